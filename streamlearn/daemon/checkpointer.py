"""Saving the learning state: when, as which checkpoint, and what became of it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.writer import WriteResult
from streamlearn.data import Position, StreamIdentity, TopicPartition
from streamlearn.errors import CheckpointError
from streamlearn.events import CheckpointDone, Event

Positions = Mapping[TopicPartition, Position]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What all checkpoints of one run of the daemon have in common; see `Checkpoint`.

    `resumed_seq` is the number of the checkpoint that the run continues, -1 if there is none.
    """

    model_id: str
    run_id: str
    app_version: str
    config_digest: str
    config: Mapping[str, Any]
    identity: StreamIdentity
    reading: Mapping[str, Any]
    resumed_seq: int = -1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of everything that learning depends on, taken between two records; see `Checkpoint`."""

    positions: Positions
    sequences_seen: int
    progressive: dict[str, Any]
    model: dict[str, Any]
    reading: dict[str, Any]


class Savable(Protocol):
    """The state that is saved."""

    def snapshot(self, positions: Positions) -> Snapshot:
        """Return a copy, valid until the next one, of the instant at which the stream is at `positions`."""


class SavePolicy(Protocol):
    """When to save."""

    def due(self, now: float, records: int) -> bool:
        """Return whether it is time."""

    def done(self, now: float, records: int) -> None:
        """Note an attempt."""

    def failed(self) -> None:
        """Note that the last attempt failed."""


class Writer(Protocol):
    """Saves in the background."""

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is being written."""

    def submit(self, checkpoint: Checkpoint) -> None:
        """Begin to write."""

    def poll(self) -> list[WriteResult]:
        """Return the results of writes that ended since the last call."""

    def drain(self, timeout_seconds: float) -> list[WriteResult]:
        """Wait until nothing is being written, then `poll`."""


class Checkpointer:
    """Saves snapshots of a state and reports what became of each.

    Parameters
    ----------
    commit : called with the positions of each checkpoint that is durable.
    observe : called with the result of each write.
    """

    def __init__(
        self,
        writer: Writer,
        schedule: SavePolicy,
        state: Savable,
        run: RunInfo,
        commit: Callable[[Positions], None],
        observe: Callable[[Event], None],
    ) -> None:
        self._writer = writer
        self._schedule = schedule
        self._state = state
        self._run = run
        self._seq = run.resumed_seq
        # None while the newest state is not known to be durable.
        self._saved_records: int | None = 0 if run.resumed_seq >= 0 else None
        self._copy_seconds, self._copied_sequences = 0.0, 0
        self._failure = ""
        self._commit = commit
        self._observe = observe

    def due(self, now: float, records: int) -> bool:
        """Return whether it is time to save, which it never is while a checkpoint is being written."""
        return not self._writer.busy and self._schedule.due(now, records)

    def save(self, positions: Positions, now: float, records: int) -> None:
        """Copy the state and begin to write the copy.

        Parameters
        ----------
        positions : of the stream.
        now : monotonic seconds.
        records : how many the positions have passed in this run.
        """
        begin = time.perf_counter()
        snapshot = self._state.snapshot(positions)
        self._copy_seconds = time.perf_counter() - begin
        self._copied_sequences = snapshot.sequences_seen
        self._schedule.done(now, records)
        self._saved_records = records
        self._seq += 1
        self._writer.submit(self._checkpoint(snapshot))

    def follow(self) -> None:
        """Report the writes that ended since the last call.

        Raises
        ------
        NonFiniteWeightsError : learning must stop.
        """
        self._report(self._writer.poll())

    def finish(self, positions: Positions, now: float, records: int, timeout_seconds: float) -> None:
        """Make sure that the newest state is durable; parameters as in `save`.

        Raises
        ------
        CheckpointError : it is not; the message says why.
        """
        self._wait(timeout_seconds)
        if self._saved_records != records:
            self.save(positions, now, records)
            self._wait(timeout_seconds)
        else:
            self._schedule.done(now, records)
        if self._failure:
            raise CheckpointError(self._failure)

    def _wait(self, timeout_seconds: float) -> None:
        self._report(self._writer.drain(timeout_seconds))
        if self._writer.busy:
            raise CheckpointError(f"checkpoint {self._seq} was not written within {timeout_seconds:g} s")

    def _checkpoint(self, snapshot: Snapshot) -> Checkpoint:
        run = self._run
        return Checkpoint(
            model_id=run.model_id,
            run_id=run.run_id,
            seq=self._seq,
            created_unix=time.time(),
            app_version=run.app_version,
            config_digest=run.config_digest,
            config=dict(run.config),
            identity=run.identity,
            reading={**run.reading, **snapshot.reading},
            positions=snapshot.positions,
            sequences_seen=snapshot.sequences_seen,
            progressive=snapshot.progressive,
            model=snapshot.model,
        )

    def _report(self, results: list[WriteResult]) -> None:
        for result in results:
            self._failure = result.message if result.outcome == "failed" else ""
            if self._failure:
                self._saved_records = None
                self._schedule.failed()
            else:
                self._commit(result.positions)
            self._observe(
                CheckpointDone(
                    outcome=result.outcome,
                    seq=result.seq,
                    sequences_seen=self._copied_sequences,
                    size_bytes=result.size_bytes,
                    copy_seconds=self._copy_seconds,
                    write_seconds=result.write_seconds,
                    disk_free_bytes=result.disk_free_bytes,
                    message=result.message,
                )
            )
            if result.fatal:
                raise result.fatal
