"""Resolving start offsets, and verifying that a log is still the one that was read before."""

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from zlib import crc32

from kafka import KafkaConsumer, errors
from kafka import TopicPartition as KafkaPartition

from streamlearn.choices import OnGap, StartAt
from streamlearn.data import Position, Record, TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.connection import BrokerWait, ConnectionManager, retry

log = logging.getLogger(__name__)

Start = StartAt | datetime

_VERIFY_POLL_MS = 500
# After this many answered polls, a record that has not arrived counts as compacted away.
_VERIFY_POLLS = 6


def start_offsets(
    consumer: KafkaConsumer, partitions: Iterable[TopicPartition], start: Start, wait: BrokerWait
) -> dict[TopicPartition, int]:
    """Return the offsets that a start means; a time after the last record means the end."""
    asked = native(partitions)
    if start == "earliest":
        return named(retry(lambda ms: consumer.beginning_offsets(asked, ms), wait))
    ends = retry(lambda ms: consumer.end_offsets(asked, ms), wait)
    if isinstance(start, datetime):
        since = max(0, int(start.timestamp() * 1000))
        # The client modifies the mapping that it gets.
        found = retry(lambda ms: consumer.offsets_for_times(dict.fromkeys(asked, since), ms), wait)
        for partition, at in found.items():
            # The embedded broker returns a negative timestamp if there is no such record.
            if at is not None and at.timestamp >= 0:
                ends[partition] = at.offset
    return named(ends)


def lost_records(
    positions: Mapping[TopicPartition, Position],
    beginnings: Mapping[TopicPartition, int],
    on_gap: OnGap,
) -> dict[TopicPartition, int]:
    """Return how many records of each partition were deleted before they were read.

    Raises
    ------
    StreamError : there are some, and `on_gap` is "fail".
    """
    lost = {tp: beginnings[tp] - at.next_offset for tp, at in positions.items()}
    lost = {tp: count for tp, count in lost.items() if count > 0}
    for tp, count in lost.items():
        message = (
            f"{place(tp, positions[tp].next_offset)}: {count} records were deleted before they were read, "
            f"the log begins at {beginnings[tp]}"
        )
        if on_gap == "fail":
            raise StreamError(f"{message}; set source.on_gap to continue to accept the loss")
        log.warning("%s; continuing from there", message)
    return lost


def verify(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    positions: Mapping[TopicPartition, Position],
    beginnings: Mapping[TopicPartition, int],
    wait: BrokerWait,
) -> None:
    """Check that every partition reaches its position and still holds the record before it.

    The consumer has no partitions assigned on return.

    Raises
    ------
    StreamError : the log was truncated, or the topic was recreated.
    """
    ends = retry(lambda ms: consumer.end_offsets(native(positions), ms), wait) if positions else {}
    wanted = {tp: at for tp, at in positions.items() if at.last_offset >= max(0, beginnings[tp])}
    same = _unchanged(consumer, manager, wanted, wait)
    for tp, at in positions.items():
        end = ends[KafkaPartition(*tp)]
        # The embedded broker may report too low an end; the record itself is the better evidence.
        if at.next_offset > end and tp not in same:
            raise StreamError(
                f"{place(tp, at.next_offset)}: the log ends at {end}, before the next record to learn from: "
                "it was truncated, or the topic was recreated"
            )


def fetch_position(consumer: KafkaConsumer, tp: TopicPartition) -> int | None:
    """Return the offset that the client fetches next, without a request.

    Unlike the offset after the last record it moves past transaction markers and compacted records.
    The public ``position()`` may wait for a broker.
    """
    state = consumer._subscription.assignment[KafkaPartition(*tp)]  # type: ignore[attr-defined]
    return None if state.position is None else int(state.position.offset)


def place(tp: TopicPartition, offset: int) -> str:
    """Return a position in the form used in messages.

    >>> place(TopicPartition("orders", 3), 1841)
    'orders[3]@1841'
    """
    return TopicPartition(*tp).at(offset)


def native(partitions: Iterable[TopicPartition]) -> list[KafkaPartition]:
    """Return partitions, sorted, as kafka-python's own type, which it requires."""
    return sorted(KafkaPartition(*tp) for tp in partitions)


def named(offsets: Mapping[KafkaPartition, int]) -> dict[TopicPartition, int]:
    """Return offsets keyed by our own type of partition."""
    return {TopicPartition(*tp): offset for tp, offset in offsets.items()}


def _unchanged(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    wanted: Mapping[TopicPartition, Position],
    wait: BrokerWait,
) -> set[TopicPartition]:
    """Fetch the last record of each position; return the partitions in which it is still the same."""
    consumer.assign(native(wanted))
    for tp, at in wanted.items():
        consumer.seek(KafkaPartition(*tp), at.last_offset)
    same: set[TopicPartition] = set()
    pending = set(wanted)
    polls = _VERIFY_POLLS
    while pending and polls:
        answers = manager.answers
        seen = _poll_one(consumer, pending)
        same |= {tp for tp, record in seen.items() if record and _is_last(record, wanted[tp])}
        passed = {tp for tp in pending if (fetch_position(consumer, tp) or 0) > wanted[tp].last_offset}
        done = pending & (passed | seen.keys())
        pending -= done
        if done:
            # Not pause(): kafka-python 3.0 loses records that it has buffered for a paused partition.
            consumer.assign(native(pending))
        elif manager.answers == answers:
            wait.keep_waiting(manager.last_failure)
        else:
            polls -= 1
    consumer.assign([])
    for tp in sorted(wanted.keys() - same):
        log.warning(
            "%s: the last record learned from no longer exists (compaction or retention)",
            place(tp, wanted[tp].last_offset),
        )
    return same


def _poll_one(consumer: KafkaConsumer, pending: set[TopicPartition]) -> dict[TopicPartition, Record | None]:
    """Return one record of one partition, or None for partitions that end before the requested offset."""
    try:
        polled = consumer.poll(_VERIFY_POLL_MS, max_records=1)
    except errors.OffsetOutOfRangeError as error:
        return dict.fromkeys((TopicPartition(*tp) for tp in error.args[0]), None)
    except errors.RetriableError:
        return {}
    seen = {TopicPartition(*tp): records[0] for tp, records in polled.items()}
    return {tp: record for tp, record in seen.items() if tp in pending}


def _is_last(record: Record, at: Position) -> bool:
    if record.offset != at.last_offset:
        return False
    found = (record.timestamp, crc32(record.value or b""))
    if found != (at.last_timestamp_ms, at.last_value_crc32):
        raise StreamError(
            f"{place(TopicPartition(record.topic, record.partition), record.offset)}: this is not the record "
            f"that was learned from: timestamp and checksum are {found[0]} and {found[1]:#010x}, "
            f"were {at.last_timestamp_ms} and {at.last_value_crc32:#010x}; the topic was recreated"
        )
    return True
