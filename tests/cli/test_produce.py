import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner, Result

from streamlearn.app.produce import Destination
from streamlearn.cli.produce import produce
from streamlearn.data import Example
from streamlearn.errors import BrokerUnavailableError, ConfigError, UsageError
from streamlearn.stream.kafka.producer import KafkaSink
from streamlearn.stream.record_codec import RecordCodec
from tests.cli.command import streamlearn
from tests.kafka.broker import free_ports
from tests.kafka.topics import create
from tests.waiting import until

if TYPE_CHECKING:
    from tests.conftest import Broker
    from tests.kafka.broker import ApacheKafka

EXAMPLES = [Example({"w": ["the", "dog"]}, ["B", "I"]), Example({"w": ["runs"]}, ["O"])]
COLUMNS = "the B\ndog I\n\nruns O\n"


def run(*arguments: str, stdin: str = "") -> Result:
    app = typer.Typer()
    app.command()(produce)
    return CliRunner().invoke(app, list(arguments), input=stdin)


@pytest.fixture
def columns(tmp_path: Path) -> str:
    path = tmp_path / "columns.txt"
    path.write_text(COLUMNS)
    return str(path)


def consume(broker: "Broker", topic: str) -> Iterator[tuple[bytes | None, Example]]:
    """Yield all records, partition by partition."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=broker.server, consumer_timeout_ms=3000)
    partitions = [TopicPartition(topic, p) for p in sorted(consumer.partitions_for_topic(topic) or ())]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    ends = consumer.end_offsets(partitions)
    left = sum(ends.values())
    while left:
        record = next(consumer)
        left -= 1
        yield record.key, RecordCodec("auto", require_labels=False).decode_record(record)
    consumer.close()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["missing.txt"], UsageError),
        (["-", "--repeat", "2"], UsageError),
        (["-", "--columns", "w,w"], UsageError),
        (["-", "--encoding", "klingon"], UsageError),
        (["-", "--kafka", "linger_ms"], UsageError),
        (["-", "--kafka", "linger_ms={"], UsageError),
        (["-", "--kafka", "linger=1"], ConfigError),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_sent(arguments: list[str], error: type) -> None:
    assert isinstance(run(*arguments, "--topic", "t").exception, error)


@pytest.mark.parametrize("arguments", [["--repeat", "0"], ["--rate", "0"], ["--format", "xml"]])
def test_wrong_options_are_usage_errors(arguments: list[str]) -> None:
    assert run("-", *arguments).exit_code == 2


@pytest.mark.parametrize("creating", [(), ("--create-topic", "1")])
def test_without_a_broker_it_gives_up_in_time_with_one_line(columns: str, creating: tuple[str, ...]) -> None:
    server = f"127.0.0.1:{free_ports(1)[0]}"
    options = ("--topic", "t", "--bootstrap-servers", server, "--timeout", "0.5", *creating)
    done = streamlearn("produce", columns, *options)
    assert (done.returncode, done.stdout) == (69, b"")
    [line] = done.stderr.decode().splitlines()
    assert f"{server}: no broker answered within" in line


@pytest.mark.apache
def test_a_broker_that_no_longer_acknowledges_ends_it(
    apache_kafka: "Broker", kafka_node: "ApacheKafka", topic: str
) -> None:
    create(apache_kafka, topic)
    sink = KafkaSink(apache_kafka.client, topic, silence_seconds=0.5)
    sink.send(b"k", b"v")
    sink.flush()
    kafka_node.freeze()
    with pytest.raises(BrokerUnavailableError, match=r"no broker has acknowledged .* within 0\.5 s"):
        until(lambda: sink.send(b"k", b"v"))
    sink.close(0)


@pytest.mark.apache
@pytest.mark.parametrize("content_type", ["json", "msgpack"])
def test_columns_arrive_as_records(
    apache_kafka: "Broker", topic: str, columns: str, content_type: str
) -> None:
    server = ("--bootstrap-servers", apache_kafka.server)
    options = ("--create-topic", "2", "--columns", "w", "--format", content_type, "--kafka", "linger_ms=1")
    result = run(columns, "--topic", topic, *server, *options)
    assert result.exit_code == 0, result.exception
    assert result.stdout.startswith("sent 2 sequences, 3 tokens, ")
    records = dict(consume(apache_kafka, topic))
    assert records == dict(zip([b"0", b"1"], EXAMPLES, strict=True))


@pytest.mark.apache
def test_refusals_are_told_and_strict_makes_them_fail(
    apache_kafka: "Broker", topic: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"tokens":["a"],"id":"k"}\n{"tokens":[]}\n')
    common = (str(path), "--topic", topic, "--bootstrap-servers", apache_kafka.server, "--create-topic", "1")
    for strict, code in (((), 0), (("--strict",), 65)):
        result = run(*common, *strict)
        assert result.exit_code == code
        assert "rejected: 1 sequences (1 empty)" in result.stdout
        assert result.stderr == f"rejected: {path}:2: tokens is empty, wanted at least one entry\n"
    assert [key for key, _ in consume(apache_kafka, topic)] == [b"k", b"k"]


@pytest.mark.apache
def test_where_all_was_refused_and_nothing_sent_it_fails(
    apache_kafka: "Broker", topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"tokens":[]}\n')
    monkeypatch.setenv("STREAMLEARN_KAFKA__BOOTSTRAP_SERVERS", apache_kafka.server)
    result = run(str(path), "--topic", topic, "--create-topic", "1")
    assert result.exit_code == 65
    assert result.stdout.startswith("sent 0 sequences")


@pytest.mark.apache
@pytest.mark.parametrize("creating", [(), ("--create-topic", "1")])
def test_what_is_no_name_of_a_topic_is_said_to_be_none(
    apache_kafka: "Broker", columns: str, creating: tuple[str, ...]
) -> None:
    result = run(columns, "--topic", "my topic", "--bootstrap-servers", apache_kafka.server, *creating)
    assert isinstance(result.exception, ConfigError)
    assert "not a valid topic name, wanted up to 249 letters" in str(result.exception)


@pytest.mark.apache
def test_repeat_and_limit(apache_kafka: "Broker", topic: str, columns: str) -> None:
    server = ("--bootstrap-servers", apache_kafka.server, "--create-topic", "1", "--key", "none")
    result = run(columns, "--topic", topic, *server, "--repeat", "3", "--limit", "5", "--rate", "1000")
    assert result.exit_code == 0
    assert len(list(consume(apache_kafka, topic))) == 5


@pytest.mark.apache
def test_standard_input_is_sent(apache_kafka: "Broker", topic: str) -> None:
    server = ("--bootstrap-servers", apache_kafka.server, "--create-topic", "1")
    result = run("-", "--topic", topic, *server, "--columns", "w", stdin=COLUMNS)
    assert result.exit_code == 0
    assert [example for _, example in consume(apache_kafka, topic)] == EXAMPLES


def test_the_command_loads_nothing_heavy() -> None:
    code = "import sys, streamlearn.cli.produce; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "kafka", "rich.progress", "yaml", "msgpack"} & set(loaded.split())


def test_a_configuration_says_the_topic_the_columns_and_the_brokers(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        "source: {topics: [t, u]}\nfeatures: {columns: [w, pos]}\nkafka: {bootstrap_servers: 'k:1'}\n"
    )
    found = Destination.of(config, None, None, ["linger_ms=5"])
    assert (found.topic, found.columns) == ("t", ["w", "pos"])
    assert found.client == {"bootstrap_servers": "k:1", "linger_ms": 5}
    given = Destination.of(config, "v", "k:2", [])
    assert (given.topic, given.client) == ("v", {"bootstrap_servers": "k:2"})
    assert Destination.of(None, "v", None, []).client == {"bootstrap_servers": "localhost:9092"}
    with pytest.raises(UsageError, match="wanted a topic"):
        Destination.of(None, None, None, [])
