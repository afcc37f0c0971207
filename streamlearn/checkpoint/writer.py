"""Writes checkpoints in a thread of its own, so that learning pauses for the copy only."""

import queue
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.store import Store
from streamlearn.data import Position, TopicPartition
from streamlearn.errors import CheckpointError, NonFiniteWeightsError


@dataclass(frozen=True, slots=True)
class WriteResult:
    """How one write ended: the fields of `events.CheckpointDone` that a writer can know.

    Attributes
    ----------
    positions : of the checkpoint, to be published once it is written.
    fatal : set if learning must stop: weights that are not finite, or an error that is no CheckpointError,
        as that another daemon has taken the state over.
    """

    outcome: Literal["written", "failed"]
    seq: int
    positions: Mapping[TopicPartition, Position]
    size_bytes: int
    write_seconds: float
    disk_free_bytes: int | None
    message: str = ""
    fatal: Exception | None = None


class BackgroundWriter:
    """One thread, one checkpoint at a time; used from one other thread.

    There is no queue: a second copy of the weights would wait for a disk that is already too slow. The
    caller asks `busy` before it copies.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._inbox: queue.SimpleQueue[Checkpoint | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[WriteResult] = queue.SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        # A daemon thread: a disk that hangs must not keep the process from exiting, and being killed in the
        # middle of a write is safe.
        self._thread = threading.Thread(target=self._run, name="checkpoint-writer", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is being written."""
        return not self._idle.is_set()

    def submit(self, checkpoint: Checkpoint) -> None:
        """Begin to write `checkpoint`, whose arrays must not change any more.

        Raises
        ------
        CheckpointError : the one before is still being written, or the writer is closed.
        """
        if self.busy or not self._thread.is_alive():
            state = "busy with the one before" if self.busy else "closed"
            raise CheckpointError(f"checkpoint {checkpoint.seq}: the writer is {state}")
        self._idle.clear()
        self._inbox.put(checkpoint)

    def poll(self) -> list[WriteResult]:
        """Return what ended since the last call, in order; never blocks, never raises."""
        return [self._outcomes.get_nowait() for _ in range(self._outcomes.qsize())]

    def drain(self, timeout_seconds: float) -> list[WriteResult]:
        """Wait until nothing is being written, then `poll`; `busy` tells whether time ran out."""
        self._idle.wait(timeout_seconds)
        return self.poll()

    def close(self, timeout_seconds: float = 0.0) -> None:
        """End the thread after the write in progress, and wait for that; safe to call twice."""
        self._inbox.put(None)
        self._thread.join(timeout_seconds)

    def _run(self) -> None:
        while (checkpoint := self._inbox.get()) is not None:
            self._outcomes.put(self._write(checkpoint))
            # The arrays are as large as the model: not kept until the next checkpoint comes.
            del checkpoint
            self._idle.set()

    def _write(self, checkpoint: Checkpoint) -> WriteResult:
        begin = time.perf_counter()
        error: Exception | None = None
        size_bytes = 0
        try:
            size_bytes = self._store.save(checkpoint).size_bytes
        except Exception as failure:
            error = failure
        is_harmless = isinstance(error, CheckpointError) and not isinstance(error, NonFiniteWeightsError)
        return WriteResult(
            outcome="failed" if error else "written",
            seq=checkpoint.seq,
            positions=checkpoint.positions,
            size_bytes=size_bytes,
            write_seconds=time.perf_counter() - begin,
            disk_free_bytes=self._store.free_bytes(),
            message=str(error) if error else "",
            fatal=None if is_harmless else error,
        )
