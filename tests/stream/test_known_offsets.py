"""What is known of partitions without a leader: nothing, until they have one."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from kafka import KafkaConsumer
from kafka.cluster import ClusterMetadata

from streamlearn.data import Position, TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.connection import BrokerWait, connect
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.known_offsets import Start, known_offsets
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.conftest import Broker
from tests.kafka.topics import create, produce, remove_before
from tests.stream.source_contract import drain, numbered, values
from tests.waiting import until

pytestmark = pytest.mark.apache

Leaders = dict[int, int | None]


@pytest.fixture
def leaders(monkeypatch: pytest.MonkeyPatch) -> Leaders:
    """What every client believes of who leads some partitions, by number."""
    wrong: Leaders = {}
    real = ClusterMetadata.leader_for_partition

    def leader(self: ClusterMetadata, partition: Any) -> int | None:
        return wrong[partition.partition] if partition.partition in wrong else real(self, partition)

    monkeypatch.setattr(ClusterMetadata, "leader_for_partition", leader)
    return wrong


@pytest.fixture
def partitions(apache_kafka: Broker, topic: str) -> list[TopicPartition]:
    """Two partitions of a new topic, with three records each."""
    create(apache_kafka, topic, 2)
    found = [TopicPartition(topic, number) for number in range(2)]
    for tp in found:
        produce(apache_kafka, tp, numbered(3))
    return found


@pytest.fixture
def lost() -> dict[TopicPartition, int]:
    """What `source` reports to be lost while it is read."""
    return {}


@pytest.fixture
def source(apache_kafka: Broker, topic: str, lost: dict[TopicPartition, int]) -> Iterator[KafkaSource]:
    """A source of the topic."""
    made = KafkaSource(
        apache_kafka.client, ReadSettings([topic], on_gap="continue"), on_lost=lost.__setitem__
    )
    yield made
    made.close()


# No leader, an unknown partition, and a leader that the client has no address of.
@pytest.mark.parametrize("leader", [-1, None, 99])
@pytest.mark.parametrize(
    ("at", "offset"),
    [("earliest", 0), ("latest", 3), (datetime(2000, 1, 1, tzinfo=UTC), 0),
     (datetime(2100, 1, 1, tzinfo=UTC), 3)],
    ids=["earliest", "latest", "past", "future"],
)  # fmt: skip
def test_a_partition_without_an_answer_is_left_out(
    apache_kafka: Broker,
    partitions: list[TopicPartition],
    leaders: Leaders,
    leader: int | None,
    at: Start,
    offset: int,
) -> None:
    consumer, manager = connect(KafkaConsumer, apache_kafka.client, BrokerWait("b"))
    leaders[1] = leader
    assert known_offsets(consumer, manager, partitions, at, 1000) == {partitions[0]: offset}
    leaders.clear()
    assert known_offsets(consumer, manager, partitions, at, 1000) == dict.fromkeys(partitions, offset)
    consumer.close()


def test_a_partition_is_read_on_once_it_has_a_leader_also_by_another_client(
    source: KafkaSource, partitions: list[TopicPartition], leaders: Leaders
) -> None:
    first, second = partitions
    leaders[1] = -1
    assert source.open(source.start_positions()) == {}
    assert values(drain(source, 3), first) == [b"v0", b"v1", b"v2"]
    assert not source.status()[second].has_leader
    source._renew("stalled")
    leaders.clear()
    assert values(drain(source, 3), second) == [b"v0", b"v1", b"v2"]
    assert all(status.has_leader for status in source.status().values())


@pytest.mark.parametrize("leader", [-1, None, 99])
def test_a_partition_that_loses_its_leader_while_it_is_read_has_an_unknown_lag(
    apache_kafka: Broker,
    source: KafkaSource,
    partitions: list[TopicPartition],
    leaders: Leaders,
    leader: int | None,
) -> None:
    first, second = partitions
    source.open(source.start_positions())
    drain(source, 6)
    leaders[1] = leader
    until(lambda: source.poll(0.2) or not source.status()[second].has_leader)
    assert source.status()[second].lag is None
    produce(apache_kafka, first, numbered(3, "later"))
    assert values(drain(source, 3), first) == [b"later0", b"later1", b"later2"]
    assert source.status()[first].lag == 0
    leaders.clear()
    produce(apache_kafka, second, numbered(2, "later"))
    assert values(drain(source, 2), second) == [b"later0", b"later1"]


def test_another_log_under_a_partition_is_refused_as_soon_as_it_has_a_leader(
    source: KafkaSource, partitions: list[TopicPartition], leaders: Leaders
) -> None:
    first, second = partitions
    leaders[1] = -1
    source.open({first: Position(0), second: Position(9, 8, 1, 1)})
    assert values(drain(source, 3), first) == [b"v0", b"v1", b"v2"]
    leaders.clear()
    with pytest.raises(StreamError, match="@9: the log ends at 3"):
        until(lambda: source.poll(0.2))


def test_records_that_a_partition_lost_meanwhile_are_counted(
    apache_kafka: Broker,
    source: KafkaSource,
    partitions: list[TopicPartition],
    leaders: Leaders,
    lost: dict[TopicPartition, int],
) -> None:
    first, second = partitions
    leaders[1] = -1
    assert source.open({first: Position(3), second: Position(0)}) == {}
    remove_before(apache_kafka, second, 2)
    assert lost == {}
    leaders.clear()
    assert values(drain(source, 1), second) == [b"v2"]
    assert lost == {second: 2}
