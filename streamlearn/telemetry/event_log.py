"""Logs what an operator wants to know of the loop's events, and no line more."""

import logging
import math
import time
from collections.abc import Callable

from streamlearn.events import (
    CheckpointDone,
    ConsumerRestarted,
    DeadLettered,
    Drift,
    Duplicated,
    Event,
    Gap,
    Learned,
    Polled,
    Rejected,
    Resumed,
    StateChanged,
)
from streamlearn.telemetry.logs import emit

logger = logging.getLogger(__name__)


class EventLog:
    """An observer that logs changes at once, rejected records with a limit, and progress at intervals.

    Parameters
    ----------
    progress_seconds : between two lines of progress; an idle stream gives none.
    rejects_per_minute : how many rejected records of each reason are logged a minute; the rest is counted.
    clock : gives monotonic seconds.
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

    def __call__(self, event: Event) -> None:
        """Take one event."""
        now = self._clock()
        self._report_suppressed(now)
        match event:
            case Learned():
                for drift in event.drifts:
                    _drift(drift)
                self._progress.add(event)
                self._report_progress(now)
            case Polled():
                self._polled(event)
            case Rejected():
                self._rejected(event, now)
            case DeadLettered(outcome="spooled", count=count):
                emit(logger, logging.WARNING, "dead_letters_spooled", count=count)
            case ConsumerRestarted(reason):
                emit(logger, logging.WARNING, "consumer_restarted", reason=reason)
            case Duplicated(count):
                self._progress.duplicates += count
            case StateChanged():
                self._state_changed(event)
            case Gap(partition=tp, count=count, lost=lost):
                level = logging.ERROR if lost else logging.DEBUG
                name = "records_lost" if lost else "offset_gap"
                emit(logger, level, name, topic=tp.topic, partition=tp.partition, count=count)
            case CheckpointDone():
                _checkpoint_done(event)
            case Resumed():
                level = logging.WARNING if event.corrupt else logging.INFO
                seen, corrupt = event.sequences_seen, event.corrupt
                emit(
                    logger, level, "resumed", seq=event.seq, sequences_seen=seen, corrupt_checkpoints=corrupt
                )

    def _state_changed(self, event: StateChanged) -> None:
        if event.state in ("stopped", "failed"):
            self._report_suppressed(math.inf)
        # Why it failed is the line of whoever runs the daemon.
        emit(logger, logging.INFO, "state_changed", state=event.state)

    def _polled(self, event: Polled) -> None:
        self._progress.lag = sum(status.lag or 0 for status in event.partitions.values())
        if event.connected != self._connected:
            self._connected = event.connected
            if event.connected:
                emit(logger, logging.INFO, "broker_connected")
            else:
                emit(logger, logging.WARNING, "broker_disconnected", note="waiting for it; nothing is lost")

    def _rejected(self, event: Rejected, now: float) -> None:
        if self._limit.allows(event.reason, now):
            emit(
                logger,
                logging.WARNING,
                "record_rejected",
                reason=str(event.reason),
                topic=event.topic,
                partition=event.partition,
                offset=event.offset,
                message=event.message,
            )

    def _report_suppressed(self, now: float) -> None:
        for reason, count in self._limit.expired(now):
            emit(
                logger, logging.WARNING, "record_rejected", reason=reason, message=f"suppressed {count} more"
            )

    def _report_progress(self, now: float) -> None:
        fields = self._progress.due(now)
        if fields is not None:
            emit(logger, logging.INFO, "progress", **fields)


def _drift(drift: Drift) -> None:
    emit(
        logger,
        logging.WARNING,
        "drift",
        signal=drift.signal,
        detector=drift.detector,
        sequence=drift.sequence,
        before=drift.before,
        after=drift.after,
        actions=", ".join(drift.actions) or "none",
    )


def _checkpoint_done(event: CheckpointDone) -> None:
    if event.outcome == "written":
        emit(
            logger,
            logging.INFO,
            "checkpoint_written",
            seq=event.seq,
            size_bytes=event.size_bytes,
            copy_seconds=event.copy_seconds,
            write_seconds=event.write_seconds,
        )
    else:
        free = event.disk_free_bytes
        emit(
            logger,
            logging.ERROR,
            "checkpoint_failed",
            seq=event.seq,
            message=event.message,
            disk_free_bytes=free,
        )


class _Progress:
    """What was learned since the last line."""

    def __init__(self, interval_seconds: float, now: float) -> None:
        self._interval_seconds = interval_seconds
        self._since = now
        self._sequences = self._tokens = 0
        self._last: Learned | None = None
        self.lag = 0
        self.duplicates = 0

    def add(self, event: Learned) -> None:
        self._sequences += event.sequences
        self._tokens += event.tokens
        self._last = event

    def due(self, now: float) -> dict[str, float] | None:
        """Give the fields of a line if it is time for one, and begin anew."""
        seconds = now - self._since
        if self._last is None or seconds < self._interval_seconds:
            return None
        fields: dict[str, float] = {
            "sequences_seen": self._last.sequences_seen,
            "sequences_per_second": round(self._sequences / seconds, 1),
            "tokens_per_second": round(self._tokens / seconds, 1),
        }
        accuracy = self._last.progressive.get("accuracy/token/recent")
        if accuracy is not None:
            fields["token_accuracy"] = round(accuracy, 4)
        fields["lag_records"] = self.lag
        if self.duplicates:
            fields["duplicates_passed_over"] = self.duplicates
            self.duplicates = 0
        self._since, self._sequences, self._tokens = now, 0, 0
        return fields


class _Limit:
    """Lets the first few of each reason through in a minute, and counts the others."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._minutes: dict[str, tuple[float, int]] = {}

    def allows(self, reason: str, now: float) -> bool:
        start, count = self._minutes.get(reason, (now, 0))
        self._minutes[reason] = (start, count + 1)
        return count < self._per_minute

    def expired(self, now: float) -> list[tuple[str, int]]:
        """Give reason and number of what was suppressed in minutes that are over, and forget them."""
        over = [reason for reason, (start, _) in self._minutes.items() if now - start >= 60.0]
        counts = [(reason, self._minutes.pop(reason)[1] - self._per_minute) for reason in over]
        return [(reason, count) for reason, count in counts if count > 0]
