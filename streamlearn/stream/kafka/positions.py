"""Positions in partitions: where a start is, which records were lost, where the client stands."""

import logging
import time
from collections.abc import Iterable, Mapping

from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPartition

from streamlearn.choices import OnGap
from streamlearn.data import Position, TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.connection import RETRY_SECONDS, BrokerWait, ConnectionManager, patience
from streamlearn.stream.kafka.known_offsets import Start, known_offsets

log = logging.getLogger(__name__)


def start_offsets(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    partitions: Iterable[TopicPartition],
    start: Start,
    wait: BrokerWait,
) -> dict[TopicPartition, int]:
    """Return the offsets that a start means, for every partition; waits for the leaders of all."""
    missing, found = set(partitions), dict[TopicPartition, int]()
    for timeout_ms in patience():
        found |= known_offsets(consumer, manager, missing, start, timeout_ms)
        missing -= found.keys()
        if not missing:
            break
        wait.keep_waiting(manager.last_failure, f"leader of {', '.join(map(str, sorted(missing)))}")
        time.sleep(RETRY_SECONDS)
    wait.answered("leader of each partition")
    return found


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


def fetch_position(consumer: KafkaConsumer, tp: TopicPartition) -> int | None:
    """Return the offset that the client fetches next, without a request; None if it does not fetch.

    Unlike the offset after the last record it moves past transaction markers and compacted records.
    The public ``position()`` may wait for a broker.
    """
    state = consumer._subscription.assignment.get(KafkaPartition(*tp))  # type: ignore[attr-defined]
    return None if state is None or state.position is None else int(state.position.offset)


def place(tp: TopicPartition, offset: int) -> str:
    """Return a position in the form used in messages.

    >>> place(TopicPartition("orders", 3), 1841)
    'orders[3]@1841'
    """
    return TopicPartition(*tp).at(offset)


def native(partitions: Iterable[TopicPartition]) -> list[KafkaPartition]:
    """Return partitions, sorted, as kafka-python's own type, which it requires."""
    return sorted(KafkaPartition(*tp) for tp in partitions)
