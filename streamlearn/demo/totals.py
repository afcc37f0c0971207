"""What happened in a run so far, for the view and for the summary."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamlearn.demo.curve import Curve
from streamlearn.events import CheckpointDone, Event, Learned, Polled, Rejected, State, StateChanged

WINDOW = 1000
_SPEED_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class NewestCheckpoint:
    """The newest checkpoint; `at` in seconds of the tally's clock."""

    size_bytes: int
    at: float


class Totals:
    """An observer that counts; read by other threads while the loop writes.

    Parameters
    ----------
    change_at : sequence number at which the world changes.
    clock : gives monotonic seconds.

    Attributes
    ----------
    curve : accuracy over the whole run.
    checkpoints, rejected, lag : counts; `lag` is None while unknown.
    saved : the newest checkpoint, if any.
    """

    def __init__(self, change_at: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.change_at = change_at
        self.clock = clock
        self.curve = Curve()
        self.state: State = "starting"
        self.tokens = self.rejected = self.checkpoints = 0
        self.lag: int | None = None
        self.saved: NewestCheckpoint | None = None
        self._began: float | None = None
        self._ended: float | None = None
        self._late: deque[tuple[float, int, int]] = deque()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case StateChanged(state):
                self._enter(state)
            case Learned():
                self._learned(event)
            case Rejected():
                self.rejected += 1
            case Polled():
                lags = [status.lag for status in event.partitions.values() if status.lag is not None]
                self.lag = sum(lags) if lags else self.lag
            case CheckpointDone(outcome="written"):
                self.checkpoints += 1
                self.saved = NewestCheckpoint(event.size_bytes, self.clock())

    @property
    def sequences(self) -> int:
        """Sequences learned."""
        return self.curve.end

    @property
    def seconds(self) -> float:
        """How long learning has been going on."""
        if self._began is None:
            return 0.0
        return (self.clock() if self._ended is None else self._ended) - self._began

    @property
    def late_accuracy(self) -> float | None:
        """Token accuracy of the last sequences, as predicted before they were learned."""
        return self.curve.accuracy(self.sequences - WINDOW, self.sequences)

    def speed(self) -> tuple[float, float]:
        """Give sequences and tokens a second of late."""
        if self._ended is not None:
            seconds = self.seconds or 1.0
            return self.sequences / seconds, self.tokens / seconds
        now = self.clock()
        late = [entry for entry in tuple(self._late) if entry[0] > now - _SPEED_SECONDS]
        seconds = min(_SPEED_SECONDS, max(self.seconds, 0.1))
        return sum(entry[1] for entry in late) / seconds, sum(entry[2] for entry in late) / seconds

    def summary(self) -> dict[str, Any]:
        """Give the figures of the run, accuracies as ratios 0-1 or None where there was nothing to score."""
        seconds, change, end = self.seconds, self.change_at, self.sequences
        return {
            "sequences": self.sequences,
            "tokens": self.tokens,
            "seconds": round(seconds, 3),
            "sequences_per_second": round(self.sequences / seconds, 1) if seconds else 0.0,
            "tokens_per_second": round(self.tokens / seconds, 1) if seconds else 0.0,
            "change_at": change,
            "accuracy_window": WINDOW,
            "accuracy_before_change": self.curve.accuracy(change - WINDOW, change) if end >= change else None,
            "accuracy_after_change": self.curve.accuracy(change, change + WINDOW),
            "accuracy_at_end": self.late_accuracy,
            "accuracy_lifetime": self.curve.accuracy(0, end),
            "checkpoints": self.checkpoints,
            "lag": self.lag,
            "rejected": self.rejected,
        }

    def _enter(self, state: State) -> None:
        self.state = state
        if state == "running":
            self._began = self.clock()
        elif state in ("stopping", "stopped", "failed") and self._ended is None:
            self._ended = self.clock()

    def _learned(self, event: Learned) -> None:
        self.tokens += event.tokens
        self.curve.add(event.sequences, event.tokens, event.token_mistakes)
        now = self.clock()
        self._late.append((now, event.sequences, event.tokens))
        while self._late[0][0] < now - _SPEED_SECONDS:
            self._late.popleft()
