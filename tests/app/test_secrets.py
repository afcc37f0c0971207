"""No secret leaves the daemon: not by logs of any level, what it serves, its state, or dead letters."""

import base64
import signal
from pathlib import Path

import pytest
from kafka.admin import ResourceType

from streamlearn.app.inspect import describe
from streamlearn.data import TopicPartition
from tests.app.process import Run, configure, fetch, fill
from tests.conftest import Broker
from tests.kafka.broker import PASSWORD, ApacheKafka
from tests.kafka.permissions import allow, tls_client
from tests.kafka.topics import create, produce
from tests.sequences import make_examples
from tests.waiting import until

LOGIN = "wrong-battery"
PATHS = ("/", "/status.json", "/metrics", "/healthz", "/readyz", "/nothing")


@pytest.mark.parametrize(("output", "mechanism"), [("text", "PLAIN"), ("json", "SCRAM-SHA-512")])
def test_a_daemon_that_tells_all_it_can_tells_no_secret(
    folder: Path,
    apache_kafka: Broker,
    kafka_node: ApacheKafka,
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
    output: str,
    mechanism: str,
) -> None:
    create(apache_kafka, topic)
    fill(apache_kafka, topic, make_examples(3))
    produce(apache_kafka, TopicPartition(topic, 0), [(None, b"{", [])])
    for kind in (ResourceType.TOPIC, ResourceType.GROUP):
        allow(apache_kafka, "learner", kind, topic)
    (folder / "login").write_text(LOGIN)
    client = tls_client(kafka_node, mechanism)
    del client["sasl_plain_password"]
    monkeypatch.setenv("STREAMLEARN_KAFKA__SASL_PLAIN_PASSWORD", PASSWORD)
    sections = {
        "kafka": client,
        "source": {"topics": [topic], "group": topic},
        "log": {"format": output, "level": "debug"},
        "dead_letters": {"policy": "dead_letter"},
    }
    config, url = configure(folder, apache_kafka, topic, sections=sections)
    monkeypatch.setenv("STREAMLEARN_METRICS__USERNAME", "jo")
    monkeypatch.setenv("STREAMLEARN_METRICS__PASSWORD_FILE", str(folder / "login"))
    run = Run(config)
    spool = folder / "state" / "dead-letters.jsonl"
    until(spool.exists, 90)
    served = [fetch(url + path, f"jo:{LOGIN}") for path in PATHS]
    assert [code for code, _ in served] == [200, 200, 200, 200, 200, 404]
    assert run.end(signal.SIGTERM) == 0
    told = "".join(text for _, text in served) + str(describe(str(folder / "state"), 100))
    written = (
        b"".join(path.read_bytes() for path in (folder / "state").iterdir()) + (folder / "log").read_bytes()
    )
    assert b"kafka.net" in written, "the client told of itself"
    for secret in (PASSWORD.encode(), LOGIN.encode(), base64.b64encode(f"jo:{LOGIN}".encode())):
        assert secret not in told.encode()
        assert secret not in written
