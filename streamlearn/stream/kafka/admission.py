"""Admitting partitions: each is read once its leader has shown that its log is still the same one."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from kafka import KafkaConsumer, errors
from kafka import TopicPartition as KafkaPartition

from streamlearn.choices import OnGap
from streamlearn.data import Position, Record, TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.connection import ConnectionManager
from streamlearn.stream.kafka.known_offsets import known_offsets
from streamlearn.stream.kafka.positions import fetch_position, lost_records, native, place

log = logging.getLogger(__name__)

_POLL_MS = 500
# How long the leader may take to return the last record that was read: ten seconds.
_POLLS = 20

Positions = Mapping[TopicPartition, Position]
Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Admitted:
    """The partitions that can be read now.

    Attributes
    ----------
    offsets : where each is read from.
    ends : its end.
    lost : how many records were deleted before they were read, where there are any.
    """

    offsets: Offsets = field(default_factory=dict)
    ends: Offsets = field(default_factory=dict)
    lost: Offsets = field(default_factory=dict)


def admit(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    pending: Mapping[TopicPartition, Position | None],
    on_gap: OnGap,
    timeout_ms: int,
    stopping: Callable[[], bool],
) -> Admitted:
    """Return the partitions whose leader answers, once it has shown that their log is still the same one.

    The others are left out, and can be tried again: what cannot be verified yet is not another stream. The
    consumer has no partitions assigned on return.

    Parameters
    ----------
    pending : the position that each partition is to continue at; None for its beginning.
    on_gap : as in `lost_records`.
    timeout_ms : for each request.
    stopping : ends the wait for records.

    Raises
    ------
    StreamError : a log was truncated, a topic was recreated, or records were lost and `on_gap` is "fail".
    AuthenticationError
    """
    beginnings = known_offsets(consumer, manager, pending, "earliest", timeout_ms)
    ends = known_offsets(consumer, manager, beginnings, "latest", timeout_ms)
    at = {tp: position for tp in ends if (position := pending[tp]) is not None}
    lost = lost_records(at, beginnings, on_gap)
    kept = {tp: position for tp, position in at.items() if tp not in lost}
    canaries = {tp: p for tp, p in kept.items() if p.last_offset >= max(0, beginnings[tp])}
    same, gone = _compare(consumer, canaries, stopping)
    silent = canaries.keys() - same - gone
    # The leader is asked again: it may have gone in the meantime.
    again = known_offsets(consumer, manager, silent, "latest", timeout_ms)
    for tp in (kept.keys() - silent) | again.keys():
        # The embedded broker may report too low an end; the record itself is the better evidence.
        if tp not in same:
            _require_reached(tp, kept[tp], (ends | again)[tp])
    for tp in sorted(gone):
        log.warning(
            "%s: the last record learned from no longer exists (compaction or retention)",
            place(tp, canaries[tp].last_offset),
        )
    starts = {tp: beginnings[tp] for tp in ends if tp not in kept}
    offsets = starts | {tp: position.next_offset for tp, position in kept.items() if tp not in silent}
    return Admitted(offsets, {tp: ends[tp] for tp in offsets}, lost)


def _require_reached(tp: TopicPartition, position: Position, end: int) -> None:
    if position.next_offset > end:
        raise StreamError(
            f"{place(tp, position.next_offset)}: the log ends at {end}, before the next record to learn "
            "from: it was truncated, or the topic was recreated"
        )


def _compare(
    consumer: KafkaConsumer, wanted: Positions, stopping: Callable[[], bool]
) -> tuple[set[TopicPartition], set[TopicPartition]]:
    """Fetch the last record of each position; return where it is the same, and where it no longer exists.

    In neither set is a partition whose leader has not returned anything.
    """
    if not wanted:
        return set(), set()
    consumer.assign(native(wanted))
    for tp, at in wanted.items():
        consumer.seek(KafkaPartition(*tp), at.last_offset)
    same: set[TopicPartition] = set()
    pending = set(wanted)
    for _ in range(_POLLS):
        if not pending or stopping():
            break
        seen = _poll_one(consumer, pending)
        same |= {tp for tp, record in seen.items() if record and _is_last(record, wanted[tp])}
        passed = {tp for tp in pending if (fetch_position(consumer, tp) or 0) > wanted[tp].last_offset}
        done = pending & (passed | seen.keys())
        pending -= done
        if done:
            # Not pause(): kafka-python 3.0 loses records that it has buffered for a paused partition.
            consumer.assign(native(pending))
    consumer.assign([])
    return same, wanted.keys() - same - pending


def _poll_one(consumer: KafkaConsumer, pending: set[TopicPartition]) -> dict[TopicPartition, Record | None]:
    """Return one record of one partition, or None for partitions that end before the requested offset."""
    try:
        polled = consumer.poll(_POLL_MS, max_records=1)
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
