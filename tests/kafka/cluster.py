"""Three nodes of Apache Kafka: every partition on all of them, two must have each record."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka import KafkaAdminClient

from tests.kafka.broker import ApacheKafka, free_ports
from tests.waiting import until

NODES = (1, 2, 3)


class Cluster:
    """Never end two of its nodes at once."""

    def __init__(self, folder: Path) -> None:
        voters = dict(zip(NODES, free_ports(len(NODES)), strict=True))
        self.nodes = {node: ApacheKafka(folder / str(node), node, voters) for node in NODES}
        self.server = ",".join(node.server for node in self.nodes.values())

    def start(self) -> None:
        """Start all, and wait until all answer."""
        for node in self.nodes.values():
            node.launch()
        until(self._is_whole, 120, "the start of three brokers")

    def leader_of(self, topic: str, partition: int = 0) -> ApacheKafka:
        """Give the node that leads a partition."""
        with KafkaAdminClient(bootstrap_servers=self.server) as admin:
            [described] = admin.describe_topics([topic])
        [leader] = [p["leader_id"] for p in described["partitions"] if p["partition_index"] == partition]
        return self.nodes[leader]

    def kill(self) -> None:
        """End all at once."""
        for node in self.nodes.values():
            node.kill()

    def _is_whole(self) -> bool:
        return all(node.is_ready() for node in self.nodes.values()) and self._brokers() == len(NODES)

    def _brokers(self) -> int:
        with KafkaAdminClient(bootstrap_servers=self.server) as admin:
            return len(admin.describe_cluster()["brokers"])


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Give a cluster, and end it."""
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()
