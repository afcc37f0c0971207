"""Records for the soak: plain, bad, and in transactions that are committed or aborted; and the truth."""

import random
import threading
from contextlib import suppress

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from tests.soak.oracle import BAD


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
        settings = {"bootstrap_servers": self._server, "request_timeout_ms": 5000}
        plain = KafkaProducer(acks="all", linger_ms=5, delivery_timeout_ms=8000, **settings)
        bound = KafkaProducer(transactional_id=f"{self._topic}-{number}", **settings)
        try:
            bound.init_transactions()
            while not self._stopped.wait(0.02):
                for _ in range(20):
                    number += 1
                    kind = BAD if self._random.random() < 0.01 else b"good"
                    plain.send(self._topic, value=b"%b-%d" % (kind, number), key=b"%d" % number)
                if self._random.random() < 0.1:
                    self._transaction(bound, number)
            plain.flush(10)
        finally:
            for producer in (plain, bound):
                with suppress(KafkaError):
                    producer.close(1)
                producer.close(0)
        return number

    def _transaction(self, producer: KafkaProducer, number: int) -> None:
        producer.begin_transaction()
        for part in range(10):
            producer.send(self._topic, value=b"good-%d-%d" % (number, part), key=b"%d" % part)
        if self._random.random() < 0.5:
            producer.abort_transaction()
            self.aborted += 1
        else:
            producer.commit_transaction()


def create(server: str, topic: str, partitions: int) -> None:
    """Create the topic."""
    with KafkaAdminClient(bootstrap_servers=server) as admin:
        wanted = {topic: {"num_partitions": partitions, "replication_factor": -1}}
        admin.create_topics(wanted, wait_for_metadata=True)


def truth(server: str, topic: str) -> dict[int, list[tuple[int, bytes]]]:
    """Read everything that was committed: (offset, value) of each partition, by a plain consumer."""
    consumer = KafkaConsumer(
        bootstrap_servers=server, isolation_level="read_committed", auto_offset_reset="earliest"
    )
    partitions = [TopicPartition(topic, p) for p in sorted(consumer.partitions_for_topic(topic) or ())]
    ends = consumer.end_offsets(partitions)
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    found: dict[int, list[tuple[int, bytes]]] = {tp.partition: [] for tp in partitions}
    while any(consumer.position(tp) < ends[tp] for tp in partitions):
        for tp, records in consumer.poll(500).items():
            found[tp.partition] += [(record.offset, record.value) for record in records]
    consumer.close()
    return found
