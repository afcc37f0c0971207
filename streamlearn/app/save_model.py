"""Keeping what was learned from files as a checkpoint, for `predict`, `inspect` and `report`."""

import time
import uuid

import streamlearn
from streamlearn.checkpoint.location import open_store
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.store import Store
from streamlearn.config.learned_part import digest, learned_part
from streamlearn.config.schema import Config
from streamlearn.daemon.learning_state import LearningState
from streamlearn.data import StreamIdentity
from streamlearn.errors import UsageError


class ModelStore:
    """A state directory (or URL) for models that were learned from files.

    Its checkpoints have no offsets: a daemon that continues from one reads its topics from `source.start`.

    Parameters
    ----------
    where : created if it is missing.

    Raises
    ------
    UsageError : it holds the state of a daemon, which would be lost.
    CheckpointError : it cannot be created or read.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._store: Store = open_store(where)
        self._store.make()
        self._require_no_offsets()

    def save(self, config: Config, state: LearningState) -> str:
        """Write a checkpoint after those that are there, and return its path or URL.

        Raises
        ------
        CheckpointError : it cannot be written.
        StateLockedError : a daemon holds the directory.
        """
        with self._store.lock():
            self._require_no_offsets()
            return self._store.save(self._checkpoint(config, state)).where

    def _checkpoint(self, config: Config, state: LearningState) -> Checkpoint:
        learned = learned_part(config)
        snapshot = state.snapshot({})
        infos = self._store.checkpoints()
        return Checkpoint(
            model_id=config.model,
            run_id=uuid.uuid4().hex,
            seq=max((info.seq for info in infos), default=-1) + 1,
            created_unix=time.time(),
            app_version=streamlearn.__version__,
            config_digest=digest(learned),
            config=learned,
            identity=StreamIdentity(),
            positions=snapshot.positions,
            sequences_seen=snapshot.sequences_seen,
            progressive=snapshot.progressive,
            model=snapshot.model,
        )

    def _require_no_offsets(self) -> None:
        for info in self._store.checkpoints():
            if info.checkpoint is None or info.checkpoint.positions or info.checkpoint.identity.topic_ids:
                raise UsageError(
                    f"--save {self._where}: holds the state of a daemon, which another model must not "
                    "replace; choose another directory"
                )
