"""The offsets that the leaders of partitions know; without an answer from its leader nothing is known."""

# The stubs of kafka-python leave these calls untyped.
# mypy: disable-error-code="no-untyped-call"

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from kafka import KafkaConsumer, errors
from kafka import TopicPartition as KafkaPartition
from kafka.protocol.consumer.offsets import OffsetSpec

from streamlearn.choices import StartAt
from streamlearn.data import TopicPartition
from streamlearn.stream.kafka.client_errors import converted
from streamlearn.stream.kafka.connection import ConnectionManager

Start = StartAt | datetime

# What kafka-python returns for a partition that it does not know, and for one that has no leader.
_NO_LEADER = (None, -1)


def known_offsets(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    partitions: Iterable[TopicPartition],
    at: Start,
    timeout_ms: int,
) -> dict[TopicPartition, int]:
    """Return the first offset, the end, or the first offset since a time, where a leader answers.

    A partition without a leader, or whose leader does not answer in time, is left out: its absence is not an
    answer. The methods of `KafkaConsumer` raise KeyError if only some partitions have a leader, or return the
    same for "no such record" as for "no leader". A time after the last record means the end.

    Raises
    ------
    AuthenticationError : a topic may not be described.
    """
    if at == "earliest":
        return _found(_ask(consumer, manager, partitions, OffsetSpec.EARLIEST, timeout_ms))
    # The end first: a record that arrives in between is found by its time.
    ends = _found(_ask(consumer, manager, partitions, OffsetSpec.LATEST, timeout_ms))
    if not isinstance(at, datetime):
        return ends
    found = _ask(consumer, manager, ends, max(0, int(at.timestamp() * 1000)), timeout_ms)
    return {tp: ends[tp] if offset is None else offset for tp, offset in found.items()}


def has_leader(manager: ConnectionManager, tp: TopicPartition) -> bool:
    """Return whether a partition has a leader, as far as the client knows."""
    return manager.cluster.leader_for_partition(KafkaPartition(*tp)) not in _NO_LEADER


def ask_for_leaders(manager: ConnectionManager, partitions: Iterable[TopicPartition]) -> None:
    """Let the client ask who leads these partitions, without waiting for the answer."""
    for topic in {tp.topic for tp in partitions}:
        manager.cluster.add_topic(topic)
    manager.cluster.request_update()


def _found(offsets: Mapping[TopicPartition, int | None]) -> dict[TopicPartition, int]:
    return {tp: offset for tp, offset in offsets.items() if offset is not None}


def _ask(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    partitions: Iterable[TopicPartition],
    timestamp: int,
    timeout_ms: int,
) -> dict[TopicPartition, int | None]:
    """Return what each leader answers: an offset, or None if it has no record since the time."""
    asked = [KafkaPartition(*tp) for tp in sorted(partitions)]
    if not asked:
        return {}
    try:
        answers = manager.run(_answers, consumer, manager, asked, timestamp, timeout_ms)
    except Exception as error:
        raise converted(error, manager.where) from error
    return {TopicPartition(*partition): offset for partition, offset in answers.items()}


async def _answers(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    asked: Sequence[KafkaPartition],
    timestamp: int,
    timeout_ms: int,
) -> dict[KafkaPartition, int | None]:
    deadline = time.monotonic() + timeout_ms / 1000
    led = await _by_leader(manager, asked, timeout_ms)
    send = consumer._fetcher._send_list_offsets_request  # type: ignore[attr-defined]
    requests = [
        (partitions, manager.call_soon(send, node, dict.fromkeys(partitions, (timestamp, -1))))
        for node, partitions in led.items()
    ]
    answers: dict[KafkaPartition, int | None] = {}
    for partitions, request in requests:
        # A leader that does not answer says nothing about the partitions of the others.
        try:
            left_ms = max(1.0, (deadline - time.monotonic()) * 1000)
            offsets, unanswered = await manager.wait_for(request, left_ms)
        except errors.RetriableError:
            manager.cluster.request_update()
            continue
        for partition in set(partitions) - unanswered:
            answers[partition] = _offset(offsets.get(partition), is_time=timestamp >= 0)
        if unanswered:
            manager.cluster.request_update()
    return answers


async def _by_leader(
    manager: ConnectionManager, partitions: Sequence[KafkaPartition], timeout_ms: int
) -> dict[int, list[KafkaPartition]]:
    """Return the partitions that have a leader, by its node; ask who leads them if any has none."""
    cluster = manager.cluster
    absent = [partition for partition in partitions if cluster.leader_for_partition(partition) in _NO_LEADER]
    if absent:
        for topic in {partition.topic for partition in absent}:
            cluster.add_topic(topic)
        with suppress(errors.KafkaError):
            await manager.wait_for(cluster.request_update(), timeout_ms)
    led: dict[int, list[KafkaPartition]] = defaultdict(list)
    for partition in partitions:
        leader = cluster.leader_for_partition(partition)
        if leader not in _NO_LEADER:
            led[leader].append(partition)
    return led


def _offset(found: Any, *, is_time: bool) -> int | None:
    # The embedded broker returns a negative timestamp if there is no record since a time.
    return None if found is None or (is_time and found.timestamp < 0) else int(found.offset)
