"""Looking at a configuration, and at what it names, before anything is started."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from streamlearn.app.tagger import build_tagger
from streamlearn.checkpoint.generations import open_checkpoint
from streamlearn.checkpoint.lock import lock_directory
from streamlearn.config.layers import load
from streamlearn.config.learned import changes
from streamlearn.config.shape import Config
from streamlearn.errors import CheckpointError, StateLockedError, StreamlearnError
from streamlearn.stream.kafka.probe import Finding, probe


def check(path: Path, overrides: Sequence[str], live: bool, timeout_seconds: float) -> Iterator[Finding]:
    """Look at the file; with `live` also at the state directory, the broker, topics and permissions.

    Changes nothing: a state directory that is missing is not made.
    """
    try:
        config = load(path, overrides)
        tagger = build_tagger(config)
    except StreamlearnError as error:
        yield Finding("config", False, str(error))
        return
    reads = ", ".join(config.features.columns) if config.features.templates else "ready-made features"
    labels = f", {len(tagger.labels)} labels known" if tagger.labels else ""
    learner = f"learner {config.learner.kind}"
    yield Finding("config", True, f"{path}: model {config.model}, {learner}, reads {reads}{labels}")
    if live:
        yield from _state(config)
        source = config.source
        yield from probe(config.kafka, source.topics, source.partitions, timeout_seconds)


def _state(config: Config) -> Iterator[Finding]:
    directory = config.checkpoint.directory
    try:
        if not directory.is_dir():
            parent = next(parent for parent in directory.absolute().parents if parent.exists())
            fine = parent.is_dir() and os.access(parent, os.W_OK)
            what = "will be made" if fine else f"is missing, and cannot be made in {parent}"
            yield Finding("state", fine, f"{directory}: {what}")
            return
        with lock_directory(directory):
            yield Finding("state", True, f"{directory}: can be written, no daemon holds it")
    except (StateLockedError, CheckpointError) as error:
        yield Finding("state", False, str(error))
    if any(directory.glob("checkpoint-*.slcp")):
        yield _newest(config)


def _newest(config: Config) -> Finding:
    try:
        loaded = open_checkpoint(config.checkpoint.directory)
    except CheckpointError as error:
        return Finding("checkpoint", False, str(error))
    changed = changes(loaded.checkpoint.config, config)
    if changed and not config.checkpoint.accept_config_change:
        return Finding(
            "checkpoint", False, f"{loaded.path}: learned with other values of {', '.join(changed)}"
        )
    seen = loaded.checkpoint.sequences_seen
    return Finding("checkpoint", True, f"{loaded.path}: verifies, {seen:,} sequences learned")
