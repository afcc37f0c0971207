"""Writing checkpoints in a background thread, so that learning pauses only for the copy."""

import queue
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.store import Store
from streamlearn.choices import WriteOutcome
from streamlearn.data import Position, TopicPartition
from streamlearn.errors import CheckpointError, NonFiniteWeightsError


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of one write: the fields of `events.CheckpointDone` that a writer knows.

    Attributes
    ----------
    positions : of the checkpoint, to be published once it is written.
    fatal : set if learning must stop: weights that are not finite, or an error other than CheckpointError,
        e.g. another daemon has taken over the state.
    """

    outcome: WriteOutcome
    seq: int
    positions: Mapping[TopicPartition, Position]
    size_bytes: int
    write_seconds: float
    disk_free_bytes: int | None
    message: str = ""
    fatal: Exception | None = None


class BackgroundWriter:
    """Writes one checkpoint at a time in its own thread; used from one other thread.

    There is no queue: a second copy of the weights would only wait for a disk that is already too slow. The
    caller checks `busy` before it copies.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._inbox: queue.SimpleQueue[Checkpoint | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[WriteResult] = queue.SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        # A daemon thread: a hanging disk must not keep the process from exiting, and it is safe to be killed
        # in the middle of a write.
        self._thread = threading.Thread(target=self._run, name="checkpoint-writer", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is being written."""
        return not self._idle.is_set()

    def submit(self, checkpoint: Checkpoint) -> None:
        """Start writing `checkpoint`, whose arrays must not change any more.

        Raises
        ------
        CheckpointError : the previous one is still being written, or the writer is closed.
        """
        if self.busy or not self._thread.is_alive():
            state = "busy with the previous one" if self.busy else "closed"
            raise CheckpointError(f"checkpoint {checkpoint.seq}: the writer is {state}")
        self._idle.clear()
        self._inbox.put(checkpoint)

    def poll(self) -> list[WriteResult]:
        """Return the results since the last call, in order; never blocks, never raises."""
        return [self._outcomes.get_nowait() for _ in range(self._outcomes.qsize())]

    def drain(self, timeout_seconds: float) -> list[WriteResult]:
        """Wait until nothing is being written, then `poll`; afterwards `busy` is True if time ran out."""
        self._idle.wait(timeout_seconds)
        return self.poll()

    def close(self, timeout_seconds: float = 0.0) -> None:
        """End the thread after the current write, and wait for it; safe to call twice."""
        self._inbox.put(None)
        self._thread.join(timeout_seconds)

    def _run(self) -> None:
        while (checkpoint := self._inbox.get()) is not None:
            self._outcomes.put(self._write(checkpoint))
            # The arrays are as large as the model: release them before the next checkpoint.
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
