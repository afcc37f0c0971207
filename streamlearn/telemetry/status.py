"""The data of the status page and the terminal views: no secrets, no record contents except label names."""

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from streamlearn.events import (
    CheckpointDone,
    Drift,
    Event,
    Learned,
    Polled,
    Rejected,
    Resumed,
    Standing,
    State,
    StateChanged,
)
from streamlearn.telemetry.alarms import Alarms
from streamlearn.telemetry.current import Current

_SPEED_SECONDS = 10.0
_REJECTED = 20
_DRIFTS = 20

Curve = Mapping[str, Sequence[float]]


class Status:
    """An observer that keeps the latest values; read by other threads while the loop writes.

    Parameters
    ----------
    about : constants: version, model, learner.
    curve : returns the learning curve of the whole stream.
    drifts : returns the detected drifts, oldest first.
    current : asked for each snapshot.
    clock : returns Unix time.
    """

    def __init__(
        self,
        about: Mapping[str, str],
        curve: Callable[[], Curve],
        drifts: Callable[[], Sequence[Drift]],
        current: Current = Current(),  # noqa: B008 - it is frozen
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._about = dict(about)
        self._curve = curve
        self._drifts = drifts
        self._current = current
        self._alarms = Alarms(current.free_bytes, clock)
        self._clock = clock
        self._started = clock()
        self._state: State = "starting"
        self._polled: Polled | None = None
        self._standing = Standing()
        self._saved: dict[str, Any] | None = None
        self._failure = ""
        self._reasons: Counter[str] = Counter()
        self._rejected: deque[dict[str, Any]] = deque(maxlen=_REJECTED)
        self._running_since = -math.inf
        self._latest: deque[tuple[float, int, int]] = deque()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self._alarms(event)
        match event:
            case StateChanged(state):
                self._state = state
                if state == "running":
                    self._running_since = self._clock()
            case Polled():
                self._polled = event
            case Learned():
                self._learn(event)
            case Rejected():
                self._reject(event)
            case CheckpointDone():
                self._save(event)
            case Resumed():
                self._standing = event.standing
                self._saved = _saved(event.seq, event.created_unix, event.size_bytes)

    def _learn(self, event: Learned) -> None:
        self._standing = event.standing
        now = self._clock()
        self._latest.append((now, event.sequences, event.tokens))
        while self._latest[0][0] < now - _SPEED_SECONDS:
            self._latest.popleft()

    def _reject(self, event: Rejected) -> None:
        self._reasons[str(event.reason)] += 1
        # The message may quote the record, so it goes to the log only.
        self._rejected.append({"reason": str(event.reason), "where": event.place, "time": self._clock()})

    def _save(self, event: CheckpointDone) -> None:
        self._failure = event.message
        if event.outcome == "written":
            self._saved = _saved(event.seq, self._clock(), event.size_bytes)

    def snapshot(self) -> dict[str, Any]:
        """Return all values as JSON data; None for unknown ones."""
        standing, now = self._standing, self._clock()
        latest = [entry for entry in tuple(self._latest) if entry[0] > now - _SPEED_SECONDS]
        # The average since learning started, while that is less than the usual time ago.
        seconds = min(_SPEED_SECONDS, max(now - self._running_since, 1.0))
        found = {
            "about": self._about,
            "now": now,
            "started": self._started,
            "state": self._state,
            "alarms": [asdict(alarm) for alarm in self._alarms.found()],
            "connected": self._polled.connected if self._polled else False,
            "sequences_seen": standing.sequences_seen,
            "sequences_per_second": sum(entry[1] for entry in latest) / seconds,
            "tokens_per_second": sum(entry[2] for entry in latest) / seconds,
            "progressive": {**standing.progressive, **self._current.last_hour()},
            "gauges": standing.gauges,
            "labels": {name: asdict(score) for name, score in standing.labels.items()},
            "other_labels": asdict(standing.other_labels) if standing.other_labels else None,
            "confusions": [list(row) for row in standing.confusions],
            "drift_scores": standing.drift_scores,
            "drifts": [asdict(drift) for drift in self._drifts()[-_DRIFTS:]],
            "partitions": self._partitions(),
            "checkpoint": self._saved,
            "checkpoint_failure": self._failure,
            "rejected": list(self._rejected),
            "rejected_by_reason": dict(self._reasons),
            "curve": self._curve(),
        }
        plain: dict[str, Any] = _plain(found)
        return plain

    def _partitions(self) -> list[dict[str, Any]]:
        polled = self._polled
        return [
            {**tp._asdict(), "position": at.position, "lag": at.lag, "has_leader": at.has_leader}
            for tp, at in (polled.partitions.items() if polled else ())
        ]


def _saved(seq: int, time: float, size_bytes: int) -> dict[str, Any]:
    return {"seq": seq, "time": time, "size_bytes": size_bytes}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if not isinstance(value, float) or math.isfinite(value) else None
