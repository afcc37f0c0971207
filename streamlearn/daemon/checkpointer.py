"""Decides when the state is saved, copies it, and follows the write."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.writer import WriteResult
from streamlearn.data import Position, StreamIdentity, TopicPartition
from streamlearn.errors import CheckpointError
from streamlearn.events import CheckpointDone, Event


class Schedule(Protocol):
    """When to save."""

    def due(self, now: float, sequences: int) -> bool:
        """Tell whether it is time."""

    def done(self, now: float, sequences: int) -> None:
        """Note an attempt."""


class Writer(Protocol):
    """What saves in the background."""

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is being written."""

    def submit(self, checkpoint: Checkpoint) -> None:
        """Begin to write."""

    def poll(self) -> list[WriteResult]:
        """Give what ended."""

    def drain(self, timeout_seconds: float) -> list[WriteResult]:
        """Wait, then give what ended."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What stays the same in all checkpoints of one run."""

    model_id: str
    run_id: str
    app_version: str
    config_digest: str
    config: Mapping[str, Any]
    identity: StreamIdentity
    reading: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of everything that learning depends on, between two records."""

    positions: Mapping[TopicPartition, Position]
    sequences_seen: int
    progressive: dict[str, Any]
    model: dict[str, Any]
    reading: dict[str, Any]


class Keeper:
    """Saves snapshots; `seq` is the number of the newest checkpoint, -1 before the first.

    Parameters
    ----------
    published : called with the positions of each checkpoint that is on disk.
    observe : told of each checkpoint.
    """

    def __init__(
        self,
        writer: Writer,
        schedule: Schedule,
        lineage: Lineage,
        seq: int,
        published: Callable[[Mapping[TopicPartition, Position]], None],
        observe: Callable[[Event], None],
    ) -> None:
        self._writer = writer
        self._schedule = schedule
        self._lineage = lineage
        self._seq = seq
        self._published = published
        self._observe = observe
        self._copy_seconds = 0.0
        self._failure = ""
        # None while the newest state that could be on disk is not.
        self._saved_records: int | None = 0 if seq >= 0 else None

    def due(self, now: float, records: int) -> bool:
        """Tell whether a snapshot is wanted; not while one is being written."""
        return not self._writer.busy and self._schedule.due(now, records)

    def save(self, take: Callable[[], Snapshot], now: float, records: int) -> None:
        """Copy the state by `take` and begin to write it."""
        begin = time.perf_counter()
        snapshot = take()
        self._copy_seconds = time.perf_counter() - begin
        self._schedule.done(now, records)
        self._saved_records = records
        self._seq += 1
        self._writer.submit(self._checkpoint(snapshot))

    def follow(self) -> None:
        """Tell of what was written meanwhile.

        Raises
        ------
        NonFiniteWeightsError : learning must stop.
        """
        self._tell(self._writer.poll())

    def finish(self, take: Callable[[], Snapshot], now: float, records: int, timeout_seconds: float) -> None:
        """Make sure that the newest state is on disk.

        Raises
        ------
        CheckpointError : it is not; the message says why.
        """
        self._wait(timeout_seconds)
        if self._saved_records != records:
            self.save(take, now, records)
            self._wait(timeout_seconds)
        else:
            self._schedule.done(now, records)
        if self._failure:
            raise CheckpointError(self._failure)

    def _wait(self, timeout_seconds: float) -> None:
        self._tell(self._writer.drain(timeout_seconds))
        if self._writer.busy:
            raise CheckpointError(f"checkpoint {self._seq} was not written within {timeout_seconds:g} s")

    def _checkpoint(self, snapshot: Snapshot) -> Checkpoint:
        lineage = self._lineage
        return Checkpoint(
            model_id=lineage.model_id,
            run_id=lineage.run_id,
            seq=self._seq,
            created_unix=time.time(),
            app_version=lineage.app_version,
            config_digest=lineage.config_digest,
            config=dict(lineage.config),
            identity=lineage.identity,
            reading={**lineage.reading, **snapshot.reading},
            positions=snapshot.positions,
            sequences_seen=snapshot.sequences_seen,
            progressive=snapshot.progressive,
            model=snapshot.model,
        )

    def _tell(self, outcomes: list[WriteResult]) -> None:
        for outcome in outcomes:
            self._failure = outcome.message if outcome.outcome == "failed" else ""
            if self._failure:
                self._saved_records = None
            else:
                self._published(outcome.positions)
            self._observe(
                CheckpointDone(
                    outcome=outcome.outcome,
                    seq=outcome.seq,
                    size_bytes=outcome.size_bytes,
                    copy_seconds=self._copy_seconds,
                    write_seconds=outcome.write_seconds,
                    disk_free_bytes=outcome.disk_free_bytes,
                    message=outcome.message,
                )
            )
            if outcome.fatal:
                raise outcome.fatal
