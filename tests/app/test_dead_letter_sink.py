"""Bad records from the daemon to a topic or file, and back once the cause is fixed."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from streamlearn.app.deadletters import DeadLetterFilter, read_dead_letters
from streamlearn.config.load import load
from streamlearn.data import TopicPartition
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.app.process import Run, configure, fill, metric, seen
from tests.cli.command import streamlearn
from tests.conftest import Broker
from tests.kafka.topics import admin, create, produce
from tests.sequences import make_examples
from tests.stream.source_contract import drain
from tests.waiting import until

pytestmark = pytest.mark.apache

BAD = [
    (b"\x00k", b"\xff\xfe{", [("raw", b"\xff")]),
    (b"k", None, []),
    (b"k", json.dumps({"columns": {"w": ["a"] * 30, "pos": ["b"] * 30}, "labels": ["O"] * 30}).encode(), []),
]
WANTED = {"policy": "dead_letter"}


@pytest.fixture
def dead(apache_kafka: Broker, topic: str) -> str:
    """A topic for dead letters."""
    create(apache_kafka, f"{topic}-dead")
    return f"{topic}-dead"


def start(folder: Path, broker: Broker, name: str, **letters: Any) -> tuple[Run, Path, str]:
    source = {"topics": [name], "max_tokens": 20}
    sections = {"source": source, "dead_letters": WANTED | letters}
    config, url = configure(folder, broker, name, sections=sections)
    return Run(config), config, url


def letters_of(config: Path) -> list[tuple[int, str]]:
    return [(letter.offset, letter.reason) for letter in read_dead_letters(load(config), DeadLetterFilter())]


def fill_with_bad(broker: Broker, topic: str) -> None:
    create(broker, topic)
    fill(broker, topic, make_examples(20))
    produce(broker, TopicPartition(topic, 0), BAD)
    fill(broker, topic, make_examples(20, seed=1))


def test_bad_records_come_to_the_topic_untouched_and_replayed_ones_are_learned_once(
    folder: Path, apache_kafka: Broker, topic: str, dead: str
) -> None:
    fill_with_bad(apache_kafka, topic)
    run, config, url = start(folder, apache_kafka, topic, topic=dead)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 40, 60)
    until(lambda: metric(url, 'streamlearn_dead_letters_total{outcome="delivered"}') == 3)
    assert run.end(signal.SIGTERM) == 0

    source = KafkaSource(apache_kafka.client, ReadSettings([dead]))
    source.open(source.start_positions())
    there = drain(source, 3)
    source.close()
    assert [(r.key, r.value) for r in there] == [(key, value) for key, value, _ in BAD]
    assert ("raw", b"\xff") in there[0].headers
    assert ("streamlearn.error.offset", b"20") in there[0].headers
    assert letters_of(config) == [(20, "encoding"), (21, "tombstone"), (22, "too_large")]

    # Fixed: longer sequences are taken now.
    fixed = json.loads(config.read_text())
    fixed["source"]["max_tokens"] = 50
    config.write_text(json.dumps(fixed))
    for count in (1, 0):
        done = streamlearn("deadletters", "replay", config, "--reason", "too_large")
        assert (done.returncode, done.stdout) == (0, f"sent {count} dead letters back\n".encode())
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 41, 60)
    assert run.end(signal.SIGTERM) == 0


def test_a_topic_that_is_deleted_stops_the_daemon_and_nothing_is_passed_over(
    folder: Path, apache_kafka: Broker, topic: str, dead: str
) -> None:
    create(apache_kafka, topic)
    run, config, url = start(folder, apache_kafka, topic, topic=dead)
    until(lambda: seen(folder) == 0, 60)
    with admin(apache_kafka) as client:
        client.delete_topics([dead])
    produce(apache_kafka, TopicPartition(topic, 0), BAD)
    assert run.wait() == 69
    assert "their topic was deleted" in (folder / "log").read_text()
    create(apache_kafka, dead)
    run = Run(config)
    until(lambda: metric(url, 'streamlearn_dead_letters_total{outcome="delivered"}') == 3, 60)
    assert run.end(signal.SIGTERM) == 0
    assert letters_of(config) == [(0, "encoding"), (1, "tombstone"), (2, "too_large")]


def test_a_topic_that_is_missing_is_replaced_by_the_file_where_that_is_wanted(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    fill_with_bad(apache_kafka, topic)
    run, config, url = start(folder, apache_kafka, topic, topic=f"{topic}-dead", on_unavailable="spool")
    until(lambda: metric(url, 'streamlearn_dead_letters_total{outcome="spooled"}') == 3, 60)
    assert run.end(signal.SIGTERM) == 0
    create(apache_kafka, f"{topic}-dead")
    assert letters_of(config) == [(20, "encoding"), (21, "tombstone"), (22, "too_large")]


def test_the_commands_list_and_show_what_is_in_the_file(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    fill_with_bad(apache_kafka, topic)
    run, config, url = start(folder, apache_kafka, topic)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 40, 60)
    assert run.end(signal.SIGTERM) == 0
    lines = streamlearn("deadletters", "list", config, "--from-offset", 21).stdout.decode().splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [
        [f"{topic}[0]@21", "tombstone"],
        [f"{topic}[0]@22", "too_large"],
    ]
    assert lines[2] == "2 dead letters: 1 tombstone, 1 too_large"
    shown = streamlearn("deadletters", "show", config, f"{topic}[0]@20", "--json").stdout
    assert json.loads(shown)["value"] == "\\xff\\xfe{"
    assert b"header raw: \\xff" in streamlearn("deadletters", "show", config, f"{topic}[0]@20").stdout
    assert streamlearn("deadletters", "show", config, f"{topic}[0]@19").returncode == 64


def test_the_policy_stop_ends_before_the_first_bad_record(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    fill_with_bad(apache_kafka, topic)
    sections = {"source": {"topics": [topic], "max_poll_records": 20}, "dead_letters": {"policy": "stop"}}
    config, _ = configure(folder, apache_kafka, topic, sections=sections)
    assert Run(config).wait() == 65
    assert seen(folder) == 20
    assert f"{topic}[0]@20: UTF-16, wanted UTF-8" in (folder / "log").read_text()
