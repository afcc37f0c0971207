"""The short form: each fault once, and a leader change; `python -m tests.soak` is the long one."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamlearn.data import TopicPartition
from tests.kafka.broker import ApacheKafka
from tests.kafka.cluster import Cluster, running_cluster
from tests.soak.faults import OF_THE_DAEMON
from tests.soak.oracle import Oracle
from tests.soak.outages import OF_BROKERS, broker_killed
from tests.soak.report import Report
from tests.soak.soak import Fault, Soak
from tests.soak.topics import OF_TOPICS
from tests.stream.memory import MemorySource


def chains(offsets: list[int]) -> Oracle:
    source, oracle = MemorySource([TopicPartition("orders", 0)]), Oracle()
    records = [source.append(b"v%d" % n) for n in range(5)]
    oracle.submit(oracle.encode([oracle.decode_record(records[at]) for at in offsets]).batch, 0.0)
    oracle.settle()
    return oracle


def test_the_oracle_notices_loss_repetition_and_another_order() -> None:
    whole, lost, twice, turned = (
        chains(offsets).partitions[0] for offsets in ([0, 1, 2, 3], [0, 1, 3], [0, 1, 2, 2, 3], [1, 0, 2, 3])
    )
    assert whole.offsets - lost.offsets == {2}
    assert (whole.doubled, twice.doubled) == (0, 1)
    assert len({whole.chain, lost.chain, twice.chain, turned.chain}) == 4
    restored = Oracle()
    restored.restore(chains([0, 1, 2, 3]).state())
    assert restored.partitions[0].chain == whole.chain


@pytest.mark.parametrize(
    "wrong", ["lost", "doubled", "partitions_out_of_order", "removed_untold", "bad_records_without_letter"]
)
def test_a_report_with_anything_wrong_is_not_fine(wrong: str) -> None:
    assert Report(records=3, applied=3).is_fine
    assert not Report(records=3, applied=3, **{wrong: 1}).is_fine
    assert not Report(records=0, applied=0).is_fine


def test_a_report_is_one_object() -> None:
    assert json.loads(str(Report(Counter(["kill"]), records=3)))["faults"] == {"kill": 1}


def survived(cluster: Cluster, topic: str, folder: Path, faults: Sequence[Fault]) -> Report:
    soak = Soak(cluster, topic, folder, 1)
    try:
        report = soak.run(faults)
    finally:
        print(soak.daemon.log.read_text())
    assert report.is_fine, str(report)
    assert sum(report.faults.values()) == len(faults)
    return report


@pytest.mark.apache
def test_every_record_is_applied_once_and_in_order_through_all_faults(
    kafka_node: ApacheKafka, topic: str, tmp_path: Path
) -> None:
    faults = OF_THE_DAEMON + OF_TOPICS + OF_BROKERS
    report = survived(Cluster({1: kafka_node}), topic, tmp_path, faults)
    assert report.kills >= 4
    assert report.removed > 0
    assert report.bad_records > 0


@pytest.mark.apache
@pytest.mark.usefixtures("kafka_node")
def test_a_leader_that_dies_costs_no_record_and_repeats_none(topic: str, tmp_path: Path) -> None:
    with running_cluster(tmp_path) as cluster:
        assert survived(cluster, topic, tmp_path, [broker_killed]).leader_changes > 0
