"""The log of the daemon's events: what an operator needs to know, without a line per record."""

import logging
import math
import time
from collections.abc import Callable
from typing import Any

from streamlearn import events
from streamlearn.data import TopicPartition
from streamlearn.telemetry.logs import emit

logger = logging.getLogger(__name__)


class EventLog:
    """An observer that logs changes immediately, rejected records up to a limit, and progress at intervals.

    Parameters
    ----------
    progress_seconds : between two lines of progress; none while the stream is idle.
    rejects_per_minute : rejected records of each reason that are logged per minute; the rest is counted.
    clock : returns monotonic seconds.
    """

    def __init__(
        self,
        progress_seconds: float = 10.0,
        rejects_per_minute: int = 5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._progress = _Progress(progress_seconds, clock())
        self._limit = _Limit(rejects_per_minute)
        self._connected: bool | None = None
        self._leaderless: set[TopicPartition] = set()
        self._problems: set[str] = set()

    def __call__(self, event: events.Event) -> None:
        """Take one event."""
        now = self._clock()
        self._report_suppressed(now)
        match event:
            case events.Learned():
                for drift in event.drifts:
                    _drift(drift)
                self._progress.add(event, now)
                self._report_progress(now)
            case events.LearningProblem():
                self._problem(event)
            case events.Polled():
                self._polled(event)
                self._report_progress(now)
            case events.Rejected():
                self._rejected(event, now)
            case events.DeadLettered(outcome="spooled", count=count):
                emit(logger, logging.WARNING, "dead_letters_spooled", count=count)
            case events.ConsumerRestarted(reason):
                emit(logger, logging.WARNING, "consumer_restarted", reason=reason)
            case events.Duplicated(count):
                self._progress.duplicates += count
            case events.ReloadFailed(message):
                emit(logger, logging.ERROR, "reload_failed", error=message, note="nothing was changed")
            case events.StateChanged():
                self._state_changed(event)
            case events.Gap(partition=tp, count=count, lost=lost):
                level = logging.ERROR if lost else logging.DEBUG
                name = "records_lost" if lost else "offset_gap"
                emit(logger, level, name, topic=tp.topic, partition=tp.partition, count=count)
            case events.CheckpointDone():
                _checkpoint_done(event)
            case events.Resumed():
                level = logging.WARNING if event.corrupt else logging.INFO
                fields = {"seq": event.seq, "sequences_seen": event.standing.sequences_seen}
                emit(logger, level, "resumed", **fields, corrupt_checkpoints=event.corrupt)

    def _state_changed(self, event: events.StateChanged) -> None:
        if event.state in ("stopped", "failed"):
            self._report_suppressed(math.inf)
        if event.state == "running":
            self._progress.restart(self._clock())
        # The command that runs the daemon logs why it failed.
        emit(logger, logging.INFO, "state_changed", state=event.state)

    def _problem(self, event: events.LearningProblem) -> None:
        # Once each: what comes and goes is a matter for the metric.
        if event.is_present and event.reason not in self._problems:
            self._problems.add(event.reason)
            emit(logger, logging.WARNING, "learning_problem", **_fields(event, "reason", "message"))

    def _polled(self, event: events.Polled) -> None:
        self._progress.lag = sum(status.lag or 0 for status in event.partitions.values())
        self._leaders({tp for tp, status in event.partitions.items() if not status.has_leader})
        if event.connected != self._connected:
            self._connected = event.connected
            if event.connected:
                emit(logger, logging.INFO, "broker_connected")
            else:
                emit(logger, logging.WARNING, "broker_disconnected", note="waiting; no records are lost")

    def _leaders(self, leaderless: set[TopicPartition]) -> None:
        for tp in sorted(leaderless - self._leaderless):
            note = "waiting for a leader; no records are lost"
            emit(logger, logging.WARNING, "partition_without_leader", **tp._asdict(), note=note)
        for tp in sorted(self._leaderless - leaderless):
            emit(logger, logging.INFO, "partition_has_leader", **tp._asdict())
        self._leaderless = leaderless

    def _rejected(self, event: events.Rejected, now: float) -> None:
        if self._limit.allows(event.reason, now):
            where = _fields(event, "topic", "partition", "offset", "message")
            emit(logger, logging.WARNING, "record_rejected", reason=str(event.reason), **where)

    def _report_suppressed(self, now: float) -> None:
        for reason, count in self._limit.expired(now):
            emit(
                logger, logging.WARNING, "record_rejected", reason=reason, message=f"suppressed {count} more"
            )

    def _report_progress(self, now: float) -> None:
        fields = self._progress.due(now)
        if fields is not None:
            emit(logger, logging.INFO, "progress", **fields)


def _drift(drift: events.Drift) -> None:
    fields = _fields(drift, "signal", "detector", "sequence", "before", "after")
    emit(logger, logging.WARNING, "drift", **fields, actions=", ".join(drift.actions) or "none")


def _checkpoint_done(event: events.CheckpointDone) -> None:
    if event.outcome == "written":
        fields = _fields(event, "seq", "size_bytes", "copy_seconds", "write_seconds")
        emit(logger, logging.INFO, "checkpoint_written", **fields)
    else:
        fields = _fields(event, "seq", "message", "disk_free_bytes")
        emit(logger, logging.ERROR, "checkpoint_failed", **fields)


def _fields(event: object, *names: str) -> dict[str, Any]:
    return {name: getattr(event, name) for name in names}


class _Progress:
    """What was learned since the last line."""

    def __init__(self, interval_seconds: float, now: float) -> None:
        self._interval_seconds = interval_seconds
        self._since = now
        self._sequences = self._tokens = 0
        self._last: events.Learned | None = None
        self.lag = 0
        self.duplicates = 0

    def restart(self, now: float) -> None:
        """Begin an interval: the time before, such as that of compiling, does not count."""
        self._since, self._sequences, self._tokens = now, 0, 0

    def add(self, event: events.Learned, now: float) -> None:
        if not self._sequences and now - self._since >= self._interval_seconds:
            # The stream was idle: that time does not count either.
            self.restart(now - event.decode_seconds - event.learn_seconds)
        self._sequences += event.sequences
        self._tokens += event.tokens
        self._last = event

    def due(self, now: float) -> dict[str, float] | None:
        """Return the fields of a line and start the next interval, or None before its end."""
        seconds = now - self._since
        if self._last is None or not self._sequences or seconds < self._interval_seconds:
            return None
        fields: dict[str, float] = {
            "sequences_seen": self._last.standing.sequences_seen,
            "sequences_per_second": round(self._sequences / seconds, 1),
            "tokens_per_second": round(self._tokens / seconds, 1),
        }
        accuracy = self._last.standing.progressive.get("accuracy/token/recent")
        if accuracy is not None:
            fields["token_accuracy"] = round(accuracy, 4)
        fields["lag_records"] = self.lag
        if self.duplicates:
            fields["duplicates_passed_over"] = self.duplicates
            self.duplicates = 0
        self.restart(now)
        return fields


class _Limit:
    """Allows the first few records of each reason per minute and counts the others."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._minutes: dict[str, tuple[float, int]] = {}

    def allows(self, reason: str, now: float) -> bool:
        start, count = self._minutes.get(reason, (now, 0))
        self._minutes[reason] = (start, count + 1)
        return count < self._per_minute

    def expired(self, now: float) -> list[tuple[str, int]]:
        """Return reason and count of the suppressed records of minutes that have ended, and reset them."""
        over = [reason for reason, (start, _) in self._minutes.items() if now - start >= 60.0]
        counts = [(reason, self._minutes.pop(reason)[1] - self._per_minute) for reason in over]
        return [(reason, count) for reason, count in counts if count > 0]
