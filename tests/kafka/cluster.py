"""Nodes of Apache Kafka as one cluster; of three, each partition is on all, and two must have each record."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient

from tests.kafka.broker import ApacheKafka, free_ports
from tests.waiting import until

NODES = (1, 2, 3)
SECONDS = 120


class Cluster:
    """Brokers by their ids; of three never end two at once."""

    def __init__(self, nodes: Mapping[int, ApacheKafka]) -> None:
        self.nodes = nodes
        self.server = ",".join(node.server for node in nodes.values())

    def start(self) -> None:
        """Start all, and wait until all answer."""
        for node in self.nodes.values():
            node.launch()
        until(self._is_whole, SECONDS, "the start of all brokers")

    def leader_of(self, topic: str, partition: int = 0) -> ApacheKafka:
        """Return the node that leads a partition, once no replica of it is behind."""
        return self.nodes[until(lambda: self._leader(topic, partition), SECONDS, "replicas in sync")]

    def leaders(self, topic: str) -> dict[int, int]:
        """Return the node that leads each partition, -1 where none does."""
        return {p["partition_index"]: p["leader_id"] for p in self._partitions(topic)}

    def leader_changes(self, topic: str) -> int:
        """Count the elections of leaders of a topic's partitions, after the first of each."""
        return sum(max(0, p["leader_epoch"]) for p in self._partitions(topic))

    def kill(self) -> None:
        """End all at once."""
        for node in self.nodes.values():
            node.kill()

    def _leader(self, topic: str, partition: int) -> int:
        """Return the leader's id, 0 while there is none or a replica is behind."""
        described = self._partitions(topic)
        whole = all(len(p["isr_nodes"]) == len(self.nodes) for p in described)
        [leader] = [p["leader_id"] for p in described if p["partition_index"] == partition]
        return max(0, leader) if whole else 0

    def _partitions(self, topic: str) -> list[dict[str, Any]]:
        with KafkaAdminClient(bootstrap_servers=self.server) as admin:
            [described] = admin.describe_topics([topic])
        partitions: list[dict[str, Any]] = described["partitions"]
        return partitions

    def _is_whole(self) -> bool:
        return all(node.is_ready() for node in self.nodes.values()) and self._brokers() == len(self.nodes)

    def _brokers(self) -> int:
        with KafkaAdminClient(bootstrap_servers=self.server) as admin:
            return len(admin.describe_cluster()["brokers"])


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Return three nodes, and end them."""
    voters = dict(zip(NODES, free_ports(len(NODES)), strict=True))
    cluster = Cluster({node: ApacheKafka(folder / str(node), node, voters) for node in NODES})
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()
