"""How fast: the learning pass, the way from files, and the way from Kafka against a bare client.

    python -m tests.benchmarks.throughput --train ../shared/data/conll2000/train.jsonl.gz

Kafka is the one that STREAMLEARN_TEST_BROKER names, else Apache Kafka is started as for the tests. Rounds
alternate between what is compared; medians are printed, in tokens and sequences a second.
"""

import argparse
import os
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import msgpack
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPartition

from streamlearn.app.daemon import Daemon
from streamlearn.app.evaluation import BATCH, Evaluation, batches, open_examples
from streamlearn.app.tagger import build_tagger, warm_up
from streamlearn.config.layers import load
from streamlearn.config.shape import Config
from streamlearn.data import TopicPartition
from streamlearn.events import Event, Learned, Polled
from streamlearn.stream.codec import encode
from tests.conftest import Broker
from tests.kafka.broker import ApacheKafka
from tests.kafka.topics import create, produce


def fail(error: Exception) -> None:
    """Refuse a file that has anything to refuse."""
    raise error


def learning_pass(config: Config, files: list[str]) -> float:
    """Tokens a second of features, prediction and update, on one core, from encoded batches."""
    tagger = build_tagger(config)
    encoded = [
        tagger.encode([located.example for located in batch]).batch
        for batch in batches(open_examples(config, files, fail))
    ]
    rows = [tagger._space.rows(batch, grow=True) for batch in encoded]
    from streamlearn.learners.base import Supervision

    begin = time.perf_counter()
    for batch, active in zip(encoded, rows, strict=True):
        supervision = Supervision(batch.labels, batch.labels_known, batch.importance)
        tagger._learner.learn_many(active, supervision)
    return sum(len(batch.labels) for batch in encoded) / (time.perf_counter() - begin)


def from_files(config: Config, files: list[str]) -> float:
    """Tokens a second of `evaluate`'s training, from the file to the weights."""
    report = Evaluation(config, fail).train(files)
    return report["tokens"] / report["seconds"]


def bare_client(broker: Broker, topic: str, count: int) -> float:
    """Sequences a second of a loop that polls and decodes msgpack, and does nothing else."""
    consumer = KafkaConsumer(bootstrap_servers=broker.server, enable_auto_commit=False, max_poll_records=2000)
    partition = KafkaPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek(partition, 0)
    seen, begin = 0, None
    while seen < count:
        for records in consumer.poll(500).values():
            begin = begin or time.perf_counter()
            for record in records:
                msgpack.unpackb(record.value)
            seen += len(records)
    seconds = time.perf_counter() - (begin or 0)
    consumer.close()
    return count / seconds


def daemon(config: Config, count: int) -> float:
    """Sequences a second of the daemon, from its first record to the last being learned."""
    first: list[float] = []
    last: list[float] = []

    def watch(event: Event) -> None:
        if isinstance(event, Polled) and event.records and not first:
            first.append(time.perf_counter())
        if isinstance(event, Learned) and event.sequences_seen == count:
            last.append(time.perf_counter())

    Daemon(config, lambda: bool(last), [watch]).run()
    return count / (last[0] - first[0])


@contextmanager
def broker() -> Iterator[Broker]:
    """Give a running Apache Kafka."""
    named = os.environ.get("STREAMLEARN_TEST_BROKER")
    if named:
        yield Broker(named)
        return
    with tempfile.TemporaryDirectory() as folder:
        node = ApacheKafka(Path(folder))
        node.start()
        try:
            yield Broker(node.server, node)
        finally:
            node.kill()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--config", default="configs/chunking-np.yaml", type=Path)
    parser.add_argument("--train", required=True, help="labelled sequences that the configuration fits")
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--repeat", default=4, type=int, help="how often the file stands in the topic")
    options = parser.parse_args()
    config = load(options.config)
    warm_up(config, print)
    files = [options.train]
    examples = [located.example for located in open_examples(config, files, fail)]

    def rate(name: str, measure: Callable[[], float], unit: str) -> None:
        values = sorted(measure() for _ in range(options.rounds))
        print(f"{name:<28}{median(values):>14,.0f} {unit}  ({values[0]:,.0f} – {values[-1]:,.0f})")

    rate("learning pass", lambda: learning_pass(config, files), "tokens/s")
    rate("from files", lambda: from_files(config, files), "tokens/s")
    with broker() as server, tempfile.TemporaryDirectory() as folder:
        topic = f"throughput.{uuid.uuid4().hex}"
        create(server, topic)
        records = [(None, encode(example, "msgpack"), []) for example in examples]
        count = len(records) * options.repeat
        for _ in range(options.repeat):
            produce(server, TopicPartition(topic, 0), records)
        ratios = []
        for number in range(options.rounds):
            settings = [
                f"source.topics=[{topic}]",
                f"checkpoint.directory={folder}/{number}",
                "metrics.port=0",
                "source.content_type=msgpack",
            ]
            here = load(options.config, settings).model_copy(update={"kafka": server.client})
            bare, ours = bare_client(server, topic, count), daemon(here, count)
            ratios.append(ours / bare)
            print(
                f"round {number}: bare client {bare:,.0f}, daemon {ours:,.0f} sequences/s: {ratios[-1]:.2f}"
            )
        print(f"daemon / bare client, median {median(ratios):.2f}, {BATCH=}")


if __name__ == "__main__":
    main()
