"""The whole daemon against Apache Kafka: the same weights as from files, whatever kills it."""

import json
import os
import signal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPartition
from kafka.errors import KafkaError

from streamlearn.app.build_tagger import warm_up
from streamlearn.app.evaluate import Evaluation
from streamlearn.checkpoint.local_files import open_checkpoint
from streamlearn.checkpoint.read_progress import ReadProgress
from streamlearn.config.load import load
from streamlearn.data import Example, TopicPartition
from tests.app.process import Run, configure, fetch, fill, metric, seen, start_learned
from tests.conftest import Broker
from tests.kafka.broker import ApacheKafka, free_ports
from tests.kafka.topics import admin, create
from tests.sequences import make_examples, write_jsonl
from tests.states import differences
from tests.waiting import until, until_succeeds

pytestmark = pytest.mark.apache

KILLS = int(os.environ.get("STREAMLEARN_TEST_KILLS", "5"))

PERCEPTRON = {"kind": "perceptron"}
# Windows and pool are short: every kill comes amid rates that cool down and sequences to look at again.
LOOKING_AGAIN = {"kind": "adf", "window": 50, "replay_tokens": 1000, "replay_looks": 2}


def from_files(folder: Path, config: Path, examples: list[Example]) -> dict[str, Any]:
    evaluation = Evaluation(load(config), on_rejected=pytest.fail)
    evaluation.train([str(write_jsonl(folder / "train.jsonl.gz", examples))])
    return evaluation.tagger.state()


def test_kafka_and_files_give_the_same_weights_bit_for_bit(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    examples = make_examples(1500)
    run, config, _ = start_learned(folder, apache_kafka, topic, examples)
    assert run.end(signal.SIGTERM) == 0
    checkpoint = open_checkpoint(folder / "state").checkpoint
    assert differences(checkpoint.model, from_files(folder, config, examples)) == []
    assert checkpoint.positions[TopicPartition(topic, 0)].next_offset == 1500


@pytest.mark.parametrize("learner", [PERCEPTRON, LOOKING_AGAIN], ids=["perceptron", "ADF that looks again"])
def test_killed_at_random_instants_it_ends_with_the_weights_of_an_uninterrupted_run(
    folder: Path, apache_kafka: Broker, topic: str, learner: dict[str, Any]
) -> None:
    examples = make_examples(6000, seed=1)
    create(apache_kafka, topic)
    sections = {"learner": learner}
    config, url = configure(
        folder, apache_kafka, topic, sections=sections, every_records=100, every_seconds=0.2
    )
    # So that no life is spent compiling.
    warm_up(load(config), print)
    random, part, killed = Random(3), len(examples) // (KILLS + 1), 0
    for number in range(KILLS):
        # Each life finds new records, so that the kill comes while it is learning.
        fill(apache_kafka, topic, examples[number * part : (number + 1) * part])
        before = seen(folder)
        run = Run(config)
        until(lambda run=run, before=before: seen(folder) > before or run.process.poll() is not None, 60)
        signal.sigtimedwait([], random.random() * 0.3)
        killed += run.end(signal.SIGKILL) == -signal.SIGKILL
    fill(apache_kafka, topic, examples[KILLS * part :])
    replayed = ReadProgress(folder / "state").before[TopicPartition(topic, 0)] - seen(folder)
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == len(examples), 60)
    assert metric(url, "streamlearn_replayed_records_total") == replayed
    assert run.end(signal.SIGTERM) == 0
    assert killed == KILLS
    assert (
        differences(open_checkpoint(folder / "state").checkpoint.model, from_files(folder, config, examples))
        == []
    )


def test_killed_at_random_instants_several_partitions_in_turns_give_the_same_weights(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    quantum, count = 50, 1500
    parts = [make_examples(count, seed=seed) for seed in (5, 6, 7)]
    turns = [part[at : at + quantum] for at in range(0, count, quantum) for part in parts]
    create(apache_kafka, topic, partitions=3)
    source = {"topics": [topic], "max_poll_records": 70, "order": "deterministic", "quantum": quantum}
    config, url = configure(
        folder, apache_kafka, topic, sections={"source": source}, every_records=100, every_seconds=0.2
    )
    warm_up(load(config), print)
    random, killed = Random(4), 0
    for number in range(KILLS):
        # In every life another partition is ahead of the others.
        for partition, part in enumerate(parts):
            share = count // KILLS
            late = 0 if partition == number % 3 or number == KILLS - 1 else share // 2
            begin = fed(apache_kafka, topic, partition)
            fill(apache_kafka, topic, part[begin : (number + 1) * share - late], partition)
        before = seen(folder)
        run = Run(config)
        until(lambda run=run, before=before: seen(folder) > before or run.process.poll() is not None, 60)
        signal.sigtimedwait([], random.random() * 0.3)
        killed += run.end(signal.SIGKILL) == -signal.SIGKILL
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 3 * count, 60)
    assert run.end(signal.SIGTERM) == 0
    assert killed == KILLS
    in_turns = [example for turn in turns for example in turn]
    assert (
        differences(open_checkpoint(folder / "state").checkpoint.model, from_files(folder, config, in_turns))
        == []
    )


def fed(broker: Broker, topic: str, partition: int) -> int:
    with KafkaConsumer(bootstrap_servers=broker.server) as consumer:
        at = KafkaPartition(topic, partition)
        return int(consumer.end_offsets([at])[at])


def test_health_metrics_and_a_clean_stop(folder: Path, apache_kafka: Broker, topic: str) -> None:
    create(apache_kafka, topic, partitions=2)
    fill(apache_kafka, topic, make_examples(50), 0)
    fill(apache_kafka, topic, make_examples(70, seed=2), 1)
    config, url = configure(folder, apache_kafka, topic)
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 120, 60)
    until(lambda: fetch(f"{url}/readyz")[0] == 200)
    assert fetch(f"{url}/healthz") == (200, "running\n")
    assert run.end(signal.SIGINT) == 0
    assert seen(folder) == 120


def test_a_broker_that_goes_away_makes_it_unready_but_leaves_it_alive_and_costs_nothing(
    folder: Path, apache_kafka: Broker, kafka_node: ApacheKafka, topic: str
) -> None:
    run, _, url = start_learned(folder, apache_kafka, topic, make_examples(30))
    kafka_node.kill()
    until(lambda: fetch(f"{url}/readyz") == (503, "no broker answers\n"), 60)
    assert fetch(f"{url}/healthz") == (200, "running\n")
    assert metric(url, "streamlearn_consumer_connected") == 0
    kafka_node.start()
    fill(apache_kafka, topic, make_examples(20, seed=1))
    until(lambda: metric(url, "streamlearn_sequences_seen") == 50, 60)
    assert fetch(f"{url}/readyz")[0] == 200
    assert run.end(signal.SIGTERM) == 0
    assert (folder / "log").read_text().count("broker_disconnected") == 1


def test_a_second_daemon_on_the_same_state_ends_with_75(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    run, config, _ = start_learned(folder, apache_kafka, topic, make_examples(1))
    (folder / "second").mkdir()
    second = json.loads(config.read_text()) | {"metrics": {"port": 0}}
    other = folder / "second" / "config.yaml"
    other.write_text(json.dumps(second))
    assert Run(other).wait() == 75
    assert "is held by pid" in (folder / "second" / "log").read_text()
    # The same configuration, whose port is in use too, has the same exit code.
    assert Run(config).wait() == 75
    assert run.end(signal.SIGTERM) == 0


def test_other_features_do_not_continue_a_state(folder: Path, apache_kafka: Broker, topic: str) -> None:
    run, config, _ = start_learned(folder, apache_kafka, topic, make_examples(1))
    assert run.end(signal.SIGTERM) == 0
    changed = json.loads(config.read_text())
    changed["features"]["templates"] = "U00:%x[0,w]"
    config.write_text(json.dumps(changed))
    assert Run(config).wait() == 78
    assert "features.templates" in (folder / "log").read_text()


def test_a_topic_that_was_created_again_is_not_continued(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    run, config, _ = start_learned(folder, apache_kafka, topic, make_examples(5))
    assert run.end(signal.SIGTERM) == 0
    with admin(apache_kafka) as client:
        client.delete_topics([topic])
    until_succeeds(lambda: create(apache_kafka, topic), KafkaError, 20, "another topic of this name")
    assert Run(config).wait() == 65
    assert "created again" in (folder / "log").read_text()


def test_a_port_that_is_taken_ends_with_78_before_anything_is_read(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    import socket

    config, url = configure(folder, apache_kafka, topic)
    with socket.create_server(("127.0.0.1", int(url.rpartition(":")[2]))):
        assert Run(config).wait() == 78
    assert not (folder / "state").exists()


def test_a_stop_while_no_broker_answers_is_clean(folder: Path) -> None:
    [port] = free_ports(1)
    config, url = configure(folder, Broker(f"127.0.0.1:{port}"), "absent")
    run = Run(config)
    until(lambda: fetch(f"{url}/readyz")[0] == 503, 60)
    until(lambda: "waiting for a broker" in (folder / "log").read_text(), 60)
    assert fetch(f"{url}/healthz")[0] == 200
    assert run.end(signal.SIGTERM) == 0


def test_a_stop_while_kernels_are_compiled_need_not_wait_for_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "cache"))
    [port] = free_ports(1)
    config, _ = configure(folder, Broker(f"127.0.0.1:{port}"), "absent")
    run = Run(config)
    until(lambda: "compiling kernels" in (folder / "log").read_text(), 60)
    assert run.end(signal.SIGTERM) == 0
    # It did not come as far as the broker.
    assert "waiting for a broker" not in (folder / "log").read_text()
    assert "stopped" not in (folder / "log").read_text()


def test_until_caught_up_it_learns_what_is_there_saves_it_and_ends(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    create(apache_kafka, topic, partitions=2)
    fill(apache_kafka, topic, make_examples(50), 1)
    config, _ = configure(folder, apache_kafka, topic)
    assert Run(config, "--until-caught-up").wait() == 0
    assert seen(folder) == 50
    # Nothing is new.
    assert Run(config, "--until-caught-up").wait() == 0
    fill(apache_kafka, topic, make_examples(5), 0)
    assert Run(config, "--until-caught-up").wait() == 0
    assert seen(folder) == 55


def test_start_and_stop_say_where_each_partition_stands(
    folder: Path, apache_kafka: Broker, topic: str
) -> None:
    create(apache_kafka, topic, partitions=2)
    fill(apache_kafka, topic, make_examples(5), 1)
    config, url = configure(folder, apache_kafka, topic)
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 5, 60)
    assert run.end(signal.SIGTERM) == 0
    log = (folder / "log").read_text()
    assert f'reading_from positions="{topic}[0]@0 {topic}[1]@0"' in log
    assert f'stopped_at positions="{topic}[0]@0 {topic}[1]@5"' in log
