"""Throughput of the learning pass, of learning from files, and from Kafka compared with a bare client.

    python -m tests.benchmarks.throughput --train ../shared/data/conll2000/train.jsonl.gz

Kafka is the one that STREAMLEARN_TEST_BROKER names, else Apache Kafka is started as for the tests. The bare
client and the daemon read the same records in turn, both from the first poll to the last record; what is
compared are medians. The daemon uses two cores and the client one, so on a machine that is busy with other
things the CPU that each takes says more than the clock.
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
from typing import NamedTuple

import msgpack
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPartition

from streamlearn.app.build_tagger import build_tagger, warm_up
from streamlearn.app.evaluate import Evaluation, batches
from streamlearn.app.open_examples import open_examples
from streamlearn.app.run import Daemon
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.data import TopicPartition
from streamlearn.events import Event, Learned, StateChanged
from streamlearn.stream.record_codec import encode
from tests.conftest import Broker
from tests.kafka.broker import ApacheKafka
from tests.kafka.topics import create, produce


def fail(error: Exception) -> None:
    """Raise an error for any invalid record in a file."""
    raise error


def learning_pass(config: Config, files: list[str]) -> float:
    """Tokens a second of features, prediction and update, on one core, from encoded batches."""
    tagger = build_tagger(config)
    encoded = [
        tagger.encode([located.example for located in batch]).batch
        for batch in batches(open_examples(config, files, fail))
    ]
    rows = [tagger._space.rows(batch, grow=True) for batch in encoded]
    from streamlearn.kernels.chain.mask import ANYTHING
    from streamlearn.learners.base import Supervision

    begin = time.perf_counter()
    for batch, active in zip(encoded, rows, strict=True):
        supervision = Supervision(batch.labels, batch.labels_known, batch.importance, ANYTHING)
        tagger._learner.learn_many(active, supervision)
    return sum(len(batch.labels) for batch in encoded) / (time.perf_counter() - begin)


def from_files(config: Config, files: list[str]) -> float:
    """Tokens a second of `evaluate`'s training, from the file to the weights."""
    report = Evaluation(config, fail).train(files)
    return report["tokens"] / report["seconds"]


class Cost(NamedTuple):
    """Seconds by the clock, and of the CPU: of all threads of this process, and of the one that reads."""

    wall: float
    cpu: float
    reading: float

    @staticmethod
    def now() -> "Cost":
        """Return the current clock and CPU times; a cost is the difference of two."""
        return Cost(time.perf_counter(), time.process_time(), time.thread_time())

    def since(self, begin: "Cost", count: int) -> "Cost":
        """Return microseconds per sequence."""
        return Cost(*(1e6 * (b - a) / count for a, b in zip(begin, self, strict=True)))


def bare_client(broker: Broker, topic: str, count: int, poll: int) -> Cost:
    """Cost of a loop that polls and decodes msgpack, and does nothing else, from its first poll."""
    consumer = KafkaConsumer(bootstrap_servers=broker.server, enable_auto_commit=False, max_poll_records=poll)
    partition = KafkaPartition(topic, 0)
    consumer.assign([partition])
    # Connects, as the daemon has when it begins to poll.
    consumer.end_offsets([partition])
    consumer.seek(partition, 0)
    seen, begin = 0, Cost.now()
    while seen < count:
        for records in consumer.poll(500).values():
            for record in records:
                msgpack.unpackb(record.value)
            seen += len(records)
    cost = Cost.now().since(begin, count)
    consumer.close()
    return cost


def daemon(config: Config, count: int) -> Cost:
    """Cost of the daemon from its first poll to the last record being learned."""
    begin: list[Cost] = []
    end: list[Cost] = []

    def watch(event: Event) -> None:
        if isinstance(event, StateChanged) and event.state == "running":
            begin.append(Cost.now())
        if isinstance(event, Learned) and event.standing.sequences_seen == count:
            end.append(Cost.now())

    Daemon(config, lambda: bool(end), [watch]).run()
    return end[0].since(begin[0], count)


def show(cost: Cost) -> str:
    """Return a cost as text."""
    cpu = f"CPU {cost.cpu:.1f} µs, {cost.reading:.1f} of it to read"
    return f"{1e6 / cost.wall:,.0f} sequences/s, {cost.wall:.1f} µs each ({cpu})"


@contextmanager
def broker() -> Iterator[Broker]:
    """Return a running Apache Kafka."""
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
    parser.add_argument("--set", action="append", help="setting, instead of the averaged perceptron's")
    options = parser.parse_args()
    chosen = options.set or ["learner.kind=perceptron", "learner.replay_tokens=0"]
    config = load(options.config, chosen)
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
        # The first round warms both up and does not count.
        for number in range(options.rounds + 1):
            settings = [
                f"source.topics=[{topic}]",
                f"checkpoint.directory={folder}/{number}",
                "metrics.port=0",
                "source.content_type=msgpack",
                *chosen,
            ]
            here = load(options.config, settings).model_copy(update={"kafka": server.client})
            bare = bare_client(server, topic, count, here.source.max_poll_records)
            ours = daemon(here, count)
            if number:
                ratios.append(bare.wall / ours.wall)
                print(f"round {number}: bare client {show(bare)}; daemon {show(ours)}: {ratios[-1]:.2f}")
        print(f"sequences a second, daemon / bare client: median {median(ratios):.2f}")


if __name__ == "__main__":
    main()
