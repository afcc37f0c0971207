"""TLS, SASL and permissions of Apache Kafka: what is right works, what is wrong is one line and a code."""

import re
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ResourceType

from streamlearn.cli.main import main
from streamlearn.errors import AuthenticationError, BrokerUnavailableError, ConfigError
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.app.process import Run, configure, fill, metric
from tests.certificates import Authority
from tests.conftest import Broker
from tests.kafka.broker import PASSWORD, ApacheKafka
from tests.kafka.permissions import allow, tls_client
from tests.kafka.topics import create
from tests.sequences import make_examples
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("untouched_logging")
TOKENS = "tests.kafka.permissions"


@pytest.fixture
def run_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Path], tuple[int, str]]:
    """Run a daemon in this process, which has its kernels; give the exit code and what it wrote."""

    def run(config: Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["streamlearn", "run", str(config)])
        with pytest.raises(SystemExit) as end:
            main()
        written = capsys.readouterr()
        return int(end.value.code or 0), written.out + written.err

    return run


@pytest.fixture
def readable(apache_kafka: Broker, topic: str) -> str:
    """A topic with three sequences, which the user ``learner`` may read."""
    create(apache_kafka, topic)
    fill(apache_kafka, topic, make_examples(3))
    allow(apache_kafka, "learner", ResourceType.TOPIC, topic)
    return topic


def test_a_daemon_learns_over_tls_and_commits_with_its_password_in_a_file(
    folder: Path, apache_kafka: Broker, kafka_node: ApacheKafka, readable: str
) -> None:
    allow(apache_kafka, "learner", ResourceType.GROUP, readable)
    (folder / "password").write_text(f"{PASSWORD}\n")
    client = tls_client(kafka_node, sasl_plain_password_file=str(folder / "password"))
    del client["sasl_plain_password"]
    sections = {"kafka": client, "source": {"topics": [readable], "group": readable}}
    config, url = configure(folder, apache_kafka, readable, sections=sections)
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 3, 60)
    assert run.end(signal.SIGTERM) == 0
    with closing(KafkaAdminClient(bootstrap_servers=apache_kafka.server)) as admin:
        [committed] = admin.list_group_offsets({readable: None})[readable].values()
    assert committed.offset == 3


@pytest.mark.parametrize("mechanism", ["PLAIN", "OAUTHBEARER"])
def test_other_mechanisms_read(kafka_node: ApacheKafka, readable: str, mechanism: str) -> None:
    client = tls_client(kafka_node, mechanism, sasl_oauth_token_provider=f"{TOKENS}:unsigned_token")
    with closing(KafkaSource(client, ReadSettings([readable], connect_timeout_seconds=20))) as source:
        source.open(source.start_positions())
        assert len(until(lambda: source.poll(0.2))) == 3


@pytest.mark.parametrize("log", ["text", "json"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sasl_plain_password": "hunter2"}, "the broker rejected the credentials"),
        ({"ssl_cafile": "other/ca.pem"}, "TLS failed: unable to get local issuer certificate; check "),
        ({}, "not permitted: topic '{topic}'; grant READ on it"),
        ({}, "not permitted to commit offsets of the group 'streamlearn-test'; grant READ on it"),
    ],
    ids=["password", "CA", "topic", "group"],
)
def test_what_is_wrong_is_one_line_and_an_exit_code(
    folder: Path,
    apache_kafka: Broker,
    kafka_node: ApacheKafka,
    readable: str,
    topic_name: Callable[[], str],
    run_here: Callable[[Path], tuple[int, str]],
    changes: dict[str, str],
    message: str,
    log: str,
) -> None:
    Authority(folder / "other", "others")
    if "{topic}" in message:
        readable = topic_name()
        create(apache_kafka, readable)
    files = {name: str(folder / path) for name, path in changes.items() if name == "ssl_cafile"}
    sections = {"kafka": tls_client(kafka_node, **changes | files), "log": {"format": log}}
    config, _ = configure(folder, apache_kafka, readable, sections=sections, every_seconds=0.2)
    code, said = run_here(config)
    assert code == 77, said
    [line] = [line for line in said.splitlines() if not re.search(' INFO |"level": "info"', line)]
    assert message.format(topic=readable) in line
    assert kafka_node.tls_server in line
    assert "hunter2" not in said


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_refused_password_is_told_at_no_level(
    folder: Path,
    apache_kafka: Broker,
    kafka_node: ApacheKafka,
    readable: str,
    run_here: Callable[[Path], tuple[int, str]],
    mechanism: str,
) -> None:
    client = tls_client(kafka_node, mechanism, sasl_plain_password="hunter2")
    sections = {"kafka": client, "log": {"level": "debug"}}
    config, _ = configure(folder, apache_kafka, readable, sections=sections)
    code, said = run_here(config)
    assert (code, "kafka.net" in said, "hunter2" in said) == (77, True, False)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("nowhere.at_all:f", ConfigError, "No module named 'nowhere'"),
        (f"{TOKENS}:nothing", ConfigError, "no attribute 'nothing'"),
        (f"{TOKENS}:TOKENS", ConfigError, "no attribute 'TOKENS'"),
        (f"{TOKENS}:time", ConfigError, "cannot be called"),
        (f"{TOKENS}:expired_token", AuthenticationError, "the broker rejected the credentials"),
        (f"{TOKENS}:no_token", AuthenticationError, "no_token returned NoneType"),
        (f"{TOKENS}:unavailable_token", BrokerUnavailableError, "unavailable_token raised OSError"),
    ],
)
def test_a_token_that_does_not_come_is_told(
    kafka_node: ApacheKafka, readable: str, name: str, kind: type[Exception], message: str
) -> None:
    client = tls_client(kafka_node, "OAUTHBEARER", sasl_oauth_token_provider=name)
    with pytest.raises(kind, match=message):
        KafkaSource(client, ReadSettings([readable], connect_timeout_seconds=2)).identity()
