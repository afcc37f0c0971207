import pytest

from streamlearn.data import TopicPartition
from streamlearn.stream.kafka.probe import Finding, probe
from tests.conftest import Broker
from tests.kafka.broker import ApacheKafka, free_ports
from tests.kafka.topics import admin, create, produce
from tests.stream.source_contract import numbered
from tests.stream.test_kafka_source import sasl_client

pytestmark = pytest.mark.apache


def verdicts(findings: list[Finding]) -> dict[str, bool]:
    return {finding.name: finding.ok for finding in findings}


def test_all_is_well(apache_kafka: Broker, topic: str) -> None:
    create(apache_kafka, topic, 2)
    produce(apache_kafka, TopicPartition(topic, 1), numbered(3))
    findings = probe(apache_kafka.client, [topic], [0, 1])
    assert verdicts(findings) == {
        "broker": True,
        "authentication": True,
        f"topic {topic}": True,
        f"read {topic}": True,
    }
    assert findings[-1].message == f"{topic}: readable, about 3 records"


def test_each_missing_topic_and_partition_is_a_problem_and_the_others_are_looked_at(
    apache_kafka: Broker, topic: str
) -> None:
    create(apache_kafka, topic)
    findings = probe(apache_kafka.client, [f"{topic}.nope", topic], [0])
    assert verdicts(findings)[f"topic {topic}.nope"] is False
    assert verdicts(findings)[f"read {topic}"] is True
    (problem,) = [f for f in probe(apache_kafka.client, [topic], [0, 3]) if not f.ok]
    assert problem.message == f"{topic}: no partitions [3], the topic has 1; see source.partitions"
    with admin(apache_kafka) as client:
        assert f"{topic}.nope" not in client.list_topics()


def test_no_broker_is_one_problem_found_in_time() -> None:
    client = {"bootstrap_servers": f"127.0.0.1:{free_ports(1)[0]}"}
    (finding,) = probe(client, ["t"], timeout_seconds=0.5)
    assert (finding.name, finding.ok) == ("broker", False)
    assert "\n" not in finding.message


def test_wrong_credentials_are_a_problem_of_authentication(kafka_node: ApacheKafka) -> None:
    findings = probe(sasl_client(kafka_node, "wrong"), ["t"])
    assert verdicts(findings) == {"broker": True, "authentication": False}


def test_right_credentials_are_named(kafka_node: ApacheKafka, apache_kafka: Broker, topic: str) -> None:
    create(apache_kafka, topic)
    assert "accepts the credentials (PLAIN)" in probe(sasl_client(kafka_node, "right"), [topic])[1].message


def test_wrong_settings_are_a_problem_and_nothing_is_raised() -> None:
    for client in (
        {"nonsense": 1},
        {"security_protocol": "NONSENSE"},
        {"sasl_mechanism": 7},
        {"api_version": "x"},
    ):
        findings = probe(client, ["t"], timeout_seconds=0.5)
        assert not findings[0].ok
