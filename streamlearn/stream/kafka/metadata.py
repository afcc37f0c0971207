"""Metadata of a cluster: its id, and the ids and partitions of its topics."""

# The stubs of kafka-python leave these calls untyped.
# mypy: disable-error-code="no-untyped-call"

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka import errors
from kafka.protocol.metadata import MetadataRequest

from streamlearn.data import TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.connection import BrokerWait, ConnectionManager, retry
from streamlearn.stream.kafka.settings import nearest

_REQUEST_MS = 1000


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: its id ("" if the broker has none) and its partition numbers."""

    topic_id: str
    partitions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster's id, and its topics by name."""

    cluster_id: str
    topics: dict[str, Topic]


def describe(manager: ConnectionManager, topics: Sequence[str], wait: BrokerWait) -> Cluster:
    """Return the metadata of `topics`.

    Raises
    ------
    StreamError : a topic does not exist; the message suggests topics with similar names.
    ConfigError : an invalid topic name. AuthenticationError : a topic may not be described.
    BrokerUnavailableError
    """
    response = retry(lambda timeout_ms: _settled(_ask(manager, topics, timeout_ms)), wait)
    found: dict[str, Topic] = {}
    for topic in response.topics:
        error = errors.for_code(topic.error_code)
        if error is errors.UnknownTopicOrPartitionError:
            known = names(manager, wait)
            raise StreamError(f"{wait.where}: there is no topic {topic.name!r}{nearest(topic.name, known)}")
        partitions = frozenset(p.partition_index for p in topic.partitions)
        found[topic.name] = Topic(str(topic.topic_id or ""), partitions)
    return Cluster(response.cluster_id or "", found)


def names(manager: ConnectionManager, wait: BrokerWait) -> list[str]:
    """Return the names of all visible topics."""
    response = retry(lambda timeout_ms: _ask(manager, None, timeout_ms), wait)
    return sorted(topic.name for topic in response.topics if not topic.is_internal)


def is_deleted(manager: ConnectionManager, tp: TopicPartition) -> bool:
    """Return whether a broker says that a partition does not exist; False if none answers within a second."""
    try:
        [topic] = _ask(manager, [tp.topic], _REQUEST_MS).topics
    except errors.RetriableError:
        return False
    error = errors.for_code(topic.error_code)
    if error is errors.NoError:
        return tp.partition not in {each.partition_index for each in topic.partitions}
    return error is errors.UnknownTopicOrPartitionError


def _ask(manager: ConnectionManager, topics: Sequence[str] | None, timeout_ms: int) -> Any:
    asked = None if topics is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in topics]
    request = MetadataRequest(
        topics=asked,
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )

    async def send() -> Any:
        return await manager.send(request, manager.least_loaded_node())

    return manager.run(manager.wait_for, manager.call_soon(send), timeout_ms)


def _settled(response: Any) -> Any:
    """Return the response, or raise the error of a topic, except that the topic does not exist."""
    for topic in response.topics:
        error = errors.for_code(topic.error_code)
        if error not in (errors.NoError, errors.UnknownTopicOrPartitionError):
            raise error(topic.name)
    return response
