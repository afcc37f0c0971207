"""A partition that no broker leads: the daemon learns from the others, and loses and repeats nothing."""

import signal
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from streamlearn.app.check import check
from streamlearn.checkpoint.local_files import open_checkpoint
from streamlearn.data import PartitionStatus
from streamlearn.errors import BrokerUnavailableError
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.probe import Finding
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.app.process import Run, configure, fill, metric
from tests.conftest import Broker
from tests.kafka.cluster import running_cluster
from tests.kafka.topics import admin
from tests.sequences import make_examples
from tests.waiting import until

pytestmark = pytest.mark.apache

SECONDS = 120


def create(broker: Broker, topic: str, replicas: int = 1) -> None:
    """Create a topic of three partitions, each on one node."""
    wanted = {"num_partitions": 3, "replication_factor": replicas, "configs": {"min.insync.replicas": "1"}}
    with admin(broker) as client:
        client.create_topics({topic: wanted}, wait_for_metadata=True)


def read_of(config: Path, topic: str) -> Finding:
    """Return what `check --live` finds about reading a topic."""
    return next(found for found in check(config, [], True, 1.0) if found.name == f"read {topic}")


def reading(broker: Broker, topic: str, **settings: Any) -> AbstractContextManager[KafkaSource]:
    """Return a source of the last partition alone."""
    return closing(KafkaSource(broker.client, ReadSettings([topic], [2], **settings)))


def status_while_polled(source: KafkaSource) -> PartitionStatus:
    """Return the status of the only partition after a while."""
    for _ in range(5):
        assert list(source.poll(0.5)) == []
    [status] = source.status().values()
    return status


@pytest.mark.usefixtures("kafka_node")
def test_a_daemon_that_runs_or_starts_without_a_leader_learns_everything_once(
    folder: Path, topic: str
) -> None:
    with running_cluster(folder) as cluster:
        broker = Broker(cluster.server)
        create(broker, topic)
        config, url = configure(folder, broker, topic, every_seconds=0.2)

        def learned(count: int) -> None:
            until(lambda: metric(url, "streamlearn_sequences_seen") == count, SECONDS)

        def without_leader(count: int) -> None:
            until(lambda: metric(url, "streamlearn_consumer_partitions_without_leader") == count, SECONDS)

        for partition in range(3):
            fill(broker, topic, make_examples(20, seed=partition), partition)
        run = Run(config)
        learned(60)
        node = cluster.nodes[cluster.leaders(topic)[2]]
        node.kill()
        # kafka-python itself may wait for long for one that is down.
        broker = Broker(",".join(each.server for each in cluster.nodes.values() if each is not node))
        without_leader(1)
        fill(broker, topic, make_examples(20, seed=3), 0)
        learned(80)
        # Now it starts with the leader away.
        assert run.end(signal.SIGTERM) == 0
        run = Run(config)
        without_leader(1)
        fill(broker, topic, make_examples(20, seed=4), 1)
        learned(100)
        assert f"no broker leads {topic}[2];" in read_of(config, topic).message
        with reading(broker, topic, silence_seconds=1) as alone:
            alone.open(alone.start_positions())
            assert status_while_polled(alone) == PartitionStatus(0, None, None, has_leader=False)
            assert alone.connected
        # Later the end is another one.
        with (
            reading(broker, topic, start="latest", connect_timeout_seconds=1) as at_the_end,
            pytest.raises(BrokerUnavailableError, match=rf"no leader of {topic}\[2\] answered"),
        ):
            at_the_end.start_positions()
        node.launch()
        without_leader(0)
        fill(broker, topic, make_examples(20, seed=5), 2)
        learned(120)
        assert run.end(signal.SIGTERM) == 0
    positions = open_checkpoint(folder / "state").checkpoint.positions
    assert {tp.partition: at.next_offset for tp, at in positions.items()} == dict.fromkeys(range(3), 40)
    log = (folder / "log").read_text()
    assert log.count("partition_without_leader") == 2
    assert log.count("partition_has_leader") == 1
