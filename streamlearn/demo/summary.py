"""The figures of a demo run, for its summary and for deciding when it ends."""

import time
from collections.abc import Callable
from typing import Any

from streamlearn.events import CheckpointDone, Event, Learned, Polled, Rejected, State, StateChanged
from streamlearn.monitor.history import History

WINDOW = 1000


class Summary:
    """An observer that counts what a run has done.

    Parameters
    ----------
    change_at : sequence number of the distribution shift.
    clock : returns monotonic seconds.
    """

    def __init__(self, change_at: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._change_at = change_at
        self._clock = clock
        self._history = History()
        self._lag: int | None = None
        self._began: float | None = None
        self._ended: float | None = None
        self.sequences = self.tokens = self.rejected = self.checkpoints = 0

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self._history(event)
        match event:
            case StateChanged(state):
                self._enter(state)
            case Learned():
                self.sequences += event.sequences
                self.tokens += event.tokens
            case Rejected():
                self.rejected += 1
            case Polled():
                lags = [status.lag for status in event.partitions.values() if status.lag is not None]
                self._lag = sum(lags) if lags else self._lag
            case CheckpointDone(outcome="written"):
                self.checkpoints += 1

    @property
    def seconds(self) -> float:
        """Duration of learning so far."""
        if self._began is None:
            return 0.0
        return (self._clock() if self._ended is None else self._ended) - self._began

    def figures(self) -> dict[str, Any]:
        """Return the figures of the run; accuracies are ratios 0-1, or None if nothing was scored."""
        seconds, change, end = self.seconds, self._change_at, self.sequences
        accuracy = self._history.accuracy
        return {
            "sequences": self.sequences,
            "tokens": self.tokens,
            "seconds": round(seconds, 3),
            "sequences_per_second": round(self.sequences / seconds, 1) if seconds else 0.0,
            "tokens_per_second": round(self.tokens / seconds, 1) if seconds else 0.0,
            "change_at": change,
            "accuracy_window": WINDOW,
            "accuracy_before_change": accuracy(change - WINDOW, change) if end >= change else None,
            "accuracy_after_change": accuracy(change, change + WINDOW),
            "accuracy_at_end": accuracy(end - WINDOW, end),
            "accuracy_lifetime": accuracy(0, end),
            "checkpoints": self.checkpoints,
            "lag": self._lag,
            "rejected": self.rejected,
        }

    def _enter(self, state: State) -> None:
        if state == "running":
            self._began = self._clock()
        elif state in ("stopping", "stopped", "failed") and self._ended is None:
            self._ended = self._clock()
