"""Making and filling topics, with kafka-python alone: the tests' own view of a broker."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafka import KafkaAdminClient, KafkaProducer
from kafka import TopicPartition as KafkaPartition

from streamlearn.data import TopicPartition

if TYPE_CHECKING:
    from tests.conftest import Broker


@contextmanager
def admin(broker: "Broker") -> Iterator[KafkaAdminClient]:
    """Return an admin client."""
    client = KafkaAdminClient(bootstrap_servers=broker.server)
    try:
        yield client
    finally:
        client.close()


def create(broker: "Broker", topic: str, partitions: int = 1, **configs: str) -> None:
    """Create a topic, and wait until it can be used."""
    with admin(broker) as client:
        wanted = {topic: {"num_partitions": partitions, "replication_factor": 1, "configs": configs}}
        client.create_topics(wanted, wait_for_metadata=True)


def produce(
    broker: "Broker",
    partition: TopicPartition,
    records: Sequence[tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]],
    *,
    timestamps_ms: Sequence[int] | None = None,
    **settings: object,
) -> None:
    """Write (key, value, headers) to a partition, in order, and wait until they are kept."""
    producer = KafkaProducer(
        bootstrap_servers=broker.server, linger_ms=5, max_request_size=64 << 20, **settings
    )
    futures = [
        producer.send(
            partition.topic,
            value=value,
            key=key,
            headers=headers,
            partition=partition.partition,
            timestamp_ms=timestamps_ms[i] if timestamps_ms else None,
        )
        for i, (key, value, headers) in enumerate(records)
    ]
    producer.flush(30)
    for future in futures:
        future.get(10)
    producer.close(5)


def remove_before(broker: "Broker", partition: TopicPartition, offset: int) -> None:
    """Remove the records before an offset, as retention does."""
    with admin(broker) as client:
        client.delete_records({KafkaPartition(*partition): offset})
