"""What is wrong with a daemon now, as its status shows it: the alerts, without Prometheus.

The names, severities and thresholds are those of deploy/prometheus/rules.yaml, but an alarm shows at once,
where an alert waits to see whether it stays.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from streamlearn.data import TopicPartition
from streamlearn.events import (
    CheckpointDone,
    Configured,
    DeadLettered,
    Event,
    Gap,
    Learned,
    LearningProblem,
    Polled,
    Rejected,
    ReloadFailed,
    Resumed,
    Standing,
    State,
    StateChanged,
)

Severity = Literal["critical", "warning", "info"]

SEVERITIES: dict[str, Severity] = {
    "LoopStalled": "critical",
    "BrokerAway": "critical",
    "PartitionWithoutLeader": "critical",
    "CheckpointFailing": "critical",
    "CheckpointStale": "critical",
    "RecordsLost": "critical",
    "NonFiniteWeights": "critical",
    "CheckpointDiskLow": "warning",
    "RejectRateHigh": "warning",
    "LearningBroken": "warning",
    "PartitionStalled": "warning",
    "LagGrowing": "warning",
    "AccuracyDrop": "warning",
    "NoUpdates": "warning",
    "FeatureTableFull": "warning",
    "DeadLettersSpooled": "warning",
    "ReloadFailed": "warning",
    "Starting": "warning",
    "Drift": "info",
}
"""Every alarm, the most urgent first, by the name of its alert without the prefix."""

STALL_SECONDS = 120
STARTING_SECONDS = 15 * 60
WAITING_SECONDS = 10 * 60
STALE_INTERVALS = 5
FREE_CHECKPOINTS = 3
REJECTED_SHARE = 0.05
LAG_RECORDS = 1000
ACCURACY_DROP = 0.1


@dataclass(frozen=True, slots=True)
class Alarm:
    """One alarm: the alert's name without its prefix, how bad it is, and one line."""

    name: str
    severity: Severity
    text: str


class Alarms:
    """An observer that knows what is wrong; another thread may ask.

    Parameters
    ----------
    free_bytes : returns the free space for checkpoints, or None if it is unknown.
    clock : returns Unix time.
    """

    def __init__(self, free_bytes: Callable[[], int | None], clock: Callable[[], float] = time.time) -> None:
        self._free_bytes = free_bytes
        self._clock = clock
        self._state: State = "starting"
        self._since = self._polled_at = self._connected_at = clock()
        self._polled: Polled | None = None
        self._standing = Standing()
        self._every_seconds = self._saved_at = self._unsaved_since = math.nan
        self._saved_sequences = self._saved_bytes = 0
        self._failure, self._is_config_refused = "", False
        self._problems: dict[str, str] = {}
        self._refused: float | None = None
        self._records, self._rejected = _Recent(5), _Recent(5)
        self._lost, self._drifts = _Recent(60), _Recent(15)
        self._spooled, self._ignored = _Recent(15), _Recent(30)
        self._mistakes, self._updates = _Recent(30), _Recent(30)
        self._lag: dict[int, int] = {}
        self._waiting: dict[TopicPartition, tuple[int, float]] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        now = self._clock()
        match event:
            case StateChanged(state):
                self._state, self._since = state, now
                self._polled_at = self._connected_at = now
            case Polled():
                self._poll(event, now)
            case Learned():
                self._learn(event, now)
            case LearningProblem(reason, message, is_present):
                # Replaced as a whole: another thread may be reading it.
                others = {name: text for name, text in self._problems.items() if name != reason}
                self._problems = {**others, reason: message} if is_present else others
            case Rejected():
                self._rejected.add(1, now)
            case Gap(lost=True, count=count):
                self._lost.add(count, now)
            case DeadLettered(outcome="spooled", count=count):
                self._spooled.add(count, now)
            case Resumed():
                self._standing = event.standing
                self._refused = event.standing.gauges.get("features_refused")
                self._save(event.created_unix, event.standing.sequences_seen, event.size_bytes)
            case CheckpointDone():
                self._failure = event.message
                if event.outcome == "written":
                    self._save(now, event.sequences_seen, event.size_bytes)
            case Configured(every_seconds):
                self._every_seconds, self._is_config_refused = every_seconds, False
            case ReloadFailed():
                self._is_config_refused = True

    def _save(self, time: float, sequences: int, size_bytes: int) -> None:
        self._saved_at, self._saved_sequences, self._saved_bytes = time, sequences, size_bytes

    def _poll(self, event: Polled, now: float) -> None:
        self._polled, self._polled_at = event, now
        if event.connected:
            self._connected_at = now
        self._records.add(sum(event.records.values()), now)
        before = self._waiting
        # Since when a partition has unread records at a position that does not move.
        self._waiting = {
            tp: before[tp] if tp in before and before[tp][0] == at.position else (at.position, now)
            for tp, at in event.partitions.items()
            if at.lag
        }
        minute = int(now // 60)
        if minute not in self._lag:
            kept = {at: lag for at, lag in self._lag.items() if at >= minute - 15}
            self._lag = kept | {minute: sum(at.lag or 0 for at in event.partitions.values())}

    def _learn(self, event: Learned, now: float) -> None:
        if self._standing.sequences_seen == self._saved_sequences:
            self._unsaved_since = now
        self._standing = event.standing
        self._drifts.add(len(event.drifts), now)
        self._mistakes.add(int((event.wrong > 0).sum()), now)
        self._updates.add(int(event.updated.sum()), now)
        refused = event.standing.gauges.get("features_refused", 0.0)
        self._ignored.add(int(refused - (self._refused or 0.0)), now)
        self._refused = refused

    def found(self) -> list[Alarm]:
        """Return the alarms there are now, the most urgent first."""
        texts = dict(self._all(self._clock()))
        return [Alarm(name, severity, texts[name]) for name, severity in SEVERITIES.items() if name in texts]

    def _all(self, now: float) -> Iterator[tuple[str, str]]:
        if self._state == "starting" and now - self._since > STARTING_SECONDS:
            yield "Starting", f"starting for {_span(now - self._since)}; the last line of the log says why"
        if self._is_config_refused:
            # The message may quote the file, so it goes to the log only.
            yield (
                "ReloadFailed",
                "a changed configuration was refused; the log event reload_failed has the reason",
            )
        if self._state == "running":
            yield from self._of_source(now)
        yield from self._of_checkpoints(now)
        yield from self._of_records(now)
        yield from self._of_learning(now)

    def _of_source(self, now: float) -> Iterator[tuple[str, str]]:
        if now - self._polled_at > STALL_SECONDS:
            yield "LoopStalled", f"the loop has not polled for {_span(now - self._polled_at)}"
        polled = self._polled
        if polled is None:
            return
        if not polled.connected:
            yield "BrokerAway", f"no answer from Kafka for {_span(now - self._connected_at)}; nothing is lost"
            return
        if without := [tp for tp, at in polled.partitions.items() if not at.has_leader]:
            more = f" and {len(without) - 1} more" if without[1:] else ""
            yield "PartitionWithoutLeader", f"{without[0]}{more}: no leader; the others are read on"
        for tp, (position, since) in self._waiting.items():
            if now - since > WAITING_SECONDS:
                yield "PartitionStalled", f"{tp.at(position)} is unread since {_span(now - since)}"
        lag = sum(at.lag or 0 for at in polled.partitions.values())
        before = self._lag.get(int(now // 60) - 15)
        if before is not None and lag > max(before, LAG_RECORDS):
            yield "LagGrowing", f"{lag:,} records behind, {lag - before:,} more than 15 min ago"

    def _of_checkpoints(self, now: float) -> Iterator[tuple[str, str]]:
        if self._failure:
            yield "CheckpointFailing", f"the last checkpoint failed: {self._failure}"
        unsaved = self._standing.sequences_seen - self._saved_sequences
        # Work that follows a long idle time is as old as itself, not as the last checkpoint.
        age = now - max(self._saved_at, self._unsaved_since)
        if unsaved > 0 and age > STALE_INTERVALS * self._every_seconds:
            yield "CheckpointStale", f"{unsaved:,} sequences are in no checkpoint, for {_span(age)}"
        free = self._free_bytes()
        if free is not None and free < FREE_CHECKPOINTS * self._saved_bytes:
            yield (
                "CheckpointDiskLow",
                f"{_size(free)} of disk left, a checkpoint has {_size(self._saved_bytes)}",
            )

    def _of_records(self, now: float) -> Iterator[tuple[str, str]]:
        rejected, records = self._rejected.sum(now), self._records.sum(now)
        if records and rejected / records > REJECTED_SHARE:
            share = min(1.0, rejected / records)
            yield "RejectRateHigh", f"{100 * share:.0f} % of the records of the last 5 min were rejected"
        if lost := self._lost.sum(now):
            yield "RecordsLost", f"{lost:,} records were deleted before they were read, in the last hour"
        if spooled := self._spooled.sum(now):
            yield "DeadLettersSpooled", f"{spooled:,} dead letters went to the local file in the last 15 min"

    def _of_learning(self, now: float) -> Iterator[tuple[str, str]]:
        standing = self._standing
        if standing.gauges.get("weights_norm") == math.inf:
            yield "NonFiniteWeights", "a weight is not finite; such a state is never saved"
        if problems := self._problems:
            yield "LearningBroken", "; ".join(f"{text} ({reason})" for reason, text in problems.items())
        recent, lifetime = (
            standing.progressive.get(f"accuracy/token/{name}") for name in ("recent", "lifetime")
        )
        if recent is not None and lifetime is not None and recent < lifetime - ACCURACY_DROP:
            yield (
                "AccuracyDrop",
                f"recent token accuracy {100 * recent:.1f} %, lifetime {100 * lifetime:.1f} %",
            )
        mistakes = self._mistakes.sum(now)
        if mistakes and not self._updates.sum(now) and now - self._since > 1800:
            yield (
                "NoUpdates",
                f"{mistakes:,} sequences predicted wrong in 30 min, and none changed the weights",
            )
        if ignored := self._ignored.sum(now):
            yield "FeatureTableFull", f"a feature table is full: {ignored:,} new features ignored in 30 min"
        if self._drifts.sum(now):
            yield "Drift", "concept drift was detected in the last 15 min"


class _Recent:
    """A sum over the last minutes; replaced as a whole, so that another thread may read it."""

    def __init__(self, minutes: int) -> None:
        self._minutes = minutes
        self._counts: dict[int, int] = {}

    def add(self, count: int, now: float) -> None:
        if count > 0:
            minute = int(now // 60)
            kept = {at: each for at, each in self._counts.items() if at > minute - self._minutes}
            self._counts = kept | {minute: kept.get(minute, 0) + count}

    def sum(self, now: float) -> int:
        first = int(now // 60) - self._minutes
        return sum(count for minute, count in self._counts.items() if minute > first)


def _span(seconds: float) -> str:
    """Return a duration in its largest whole unit: "90 s", "5 min", "2 h"."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _size(count: int) -> str:
    """Return a number of bytes: "306 kB", "1.2 GB"."""
    for unit, length in (("GB", 1e9), ("MB", 1e6)):
        if count >= length:
            return f"{count / length:,.1f} {unit}"
    return f"{count / 1e3:,.0f} kB"
