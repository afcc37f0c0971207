"""Records for the soak: plain, bad, and in transactions that are committed or aborted; and the truth."""

import random
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError, KafkaTimeoutError

from tests.soak.oracle import BAD

TRANSACTION_SECONDS = 10.0
IMPATIENT = {"request_timeout_ms": 5000, "delivery_timeout_ms": 8000}


class Feed:
    """A thread that writes until it is stopped; what it could not write is not missed."""

    def __init__(self, server: str, topic: str, seed: int) -> None:
        self._server = server
        self._topic = topic
        self._random = random.Random(seed)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.aborted = 0

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write no more."""
        self._stopped.set()
        self._thread.join(60)

    def _run(self) -> None:
        number = 0
        while not self._stopped.is_set():
            # Producers do not survive all that is done to brokers; the next one does.
            with suppress(KafkaError):
                number = self._write(number)

    def _write(self, number: int) -> int:
        settings = {"bootstrap_servers": self._server, **IMPATIENT}
        with ExitStack() as stack:
            plain = KafkaProducer(acks="all", linger_ms=5, **settings)
            stack.callback(_close, plain)
            # Of one id: the next producer ends what the one before left open, which readers would wait for.
            bound = KafkaProducer(transactional_id=self._topic, transaction_timeout_ms=10_000, **settings)
            stack.callback(_close, bound)
            bound.init_transactions()
            while not self._stopped.wait(0.02):
                for _ in range(20):
                    number += 1
                    kind = BAD if self._random.random() < 0.01 else b"good"
                    plain.send(self._topic, value=b"%b-%d" % (kind, number), key=b"%d" % number)
                if self._random.random() < 0.1:
                    self._transaction(bound, number)
            plain.flush(10)
        return number

    def _transaction(self, producer: KafkaProducer, number: int) -> None:
        producer.begin_transaction()
        for part in range(10):
            producer.send(self._topic, value=b"good-%d-%d" % (number, part), key=b"%d" % part)
        if self._random.random() < 0.5:
            _end(producer.abort_transaction)
            self.aborted += 1
        else:
            _end(producer.commit_transaction)


def _end(transaction: Callable[[], None]) -> None:
    """End a transaction, for which kafka-python would wait indefinitely if its broker has died."""
    ended = threading.Event()

    def end() -> None:
        with suppress(KafkaError):
            transaction()
            ended.set()

    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    thread.join(TRANSACTION_SECONDS)
    if not ended.is_set():
        raise KafkaTimeoutError("the transaction did not end")


def _close(producer: KafkaProducer) -> None:
    try:
        producer.close(1)
    except KafkaError:
        # Nothing may come after the end of the soak.
        producer._sender.force_close()
        producer.close(1)


def create(server: str, topic: str, partitions: int) -> None:
    """Create the topic."""
    with KafkaAdminClient(bootstrap_servers=server) as admin:
        wanted = {topic: {"num_partitions": partitions, "replication_factor": -1}}
        admin.create_topics(wanted, wait_for_metadata=True)


def write(server: str, topic: str, count: int) -> None:
    """Write some good records, and wait until they are kept."""
    producer = KafkaProducer(bootstrap_servers=server, acks="all", **IMPATIENT)
    try:
        sent = [producer.send(topic, value=b"good-%d" % number) for number in range(count)]
        for future in sent:
            future.get(10)
    finally:
        producer.close(1)


class Log:
    """Everything that was committed to a topic, as a plain consumer reads it.

    Attributes
    ----------
    records : (offset, value) of each partition.
    ends : where each partition is read on.
    """

    def __init__(self, server: str, topic: str) -> None:
        self._server = server
        self._topic = topic
        self.records: dict[int, list[tuple[int, bytes]]] = {}
        self.ends: dict[int, int] = {}

    def read(self) -> dict[int, int]:
        """Read on to the present ends, and give them."""
        consumer = KafkaConsumer(
            bootstrap_servers=self._server, isolation_level="read_committed", auto_offset_reset="none"
        )
        try:
            self._read(consumer)
        finally:
            consumer.close()
        return self.ends

    def _read(self, consumer: KafkaConsumer) -> None:
        partitions = [
            TopicPartition(self._topic, p) for p in consumer.partitions_for_topic(self._topic) or ()
        ]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        for tp in partitions:
            consumer.seek(tp, self.ends.setdefault(tp.partition, 0))
        while any(self.ends[tp.partition] < ends[tp] for tp in partitions):
            for tp, records in consumer.poll(500).items():
                rows = [(record.offset, record.value) for record in records]
                self.records.setdefault(tp.partition, []).extend(rows)
            # Also over aborted records and markers.
            self.ends |= {tp.partition: consumer.position(tp) for tp in partitions}
