from collections.abc import Sequence

import pytest

from streamlearn.data import TopicPartition
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.conftest import Broker
from tests.kafka.topics import create, produce
from tests.stream.memory import MemorySource
from tests.stream.source_contract import Sent, SourceContract, World


class MemoryWorld:
    def __init__(self) -> None:
        self.partitions = [TopicPartition("orders", p) for p in (0, 1)]
        self._source = MemorySource(self.partitions)

    def source(self) -> MemorySource:
        copy = MemorySource(self.partitions)
        copy.logs = self._source.logs
        return copy

    def append(self, partition: TopicPartition, records: Sequence[Sent]) -> None:
        for key, value, headers in records:
            self._source.append(value, partition=partition, key=key, headers=headers)


class KafkaWorld:
    def __init__(self, broker: Broker, topic: str) -> None:
        create(broker, topic, 2)
        self.partitions = [TopicPartition(topic, p) for p in (0, 1)]
        self._broker = broker
        self._topic = topic

    def source(self) -> KafkaSource:
        return KafkaSource(self._broker.client, ReadSettings([self._topic], group_id=f"{self._topic}-group"))

    def append(self, partition: TopicPartition, records: Sequence[Sent]) -> None:
        produce(self._broker, partition, records)


class TestMemorySource(SourceContract):
    @pytest.fixture
    def world(self) -> World:
        return MemoryWorld()


@pytest.mark.apache
class TestKafkaSourceOnApacheKafka(SourceContract):
    @pytest.fixture
    def world(self, apache_kafka: Broker, topic: str) -> World:
        return KafkaWorld(apache_kafka, topic)


class TestKafkaSourceOnTheEmbeddedBroker(SourceContract):
    @pytest.fixture
    def world(self, embedded_broker: Broker, topic: str) -> World:
        return KafkaWorld(embedded_broker, topic)
