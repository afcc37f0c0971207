"""What is done to topics."""

from itertools import count

from kafka import KafkaAdminClient, TopicPartition
from kafka.errors import KafkaError

from tests.soak.daemon import Daemon
from tests.soak.feed import create, write
from tests.soak.soak import Soak
from tests.waiting import until, until_succeeds

MOST_PARTITIONS = 6
SECONDS = 120
_numbers = count()


def add_a_partition(soak: Soak) -> None:
    """One partition more."""
    with KafkaAdminClient(bootstrap_servers=soak.server) as admin:
        [described] = admin.describe_topics([soak.topic])
        partitions = len(described["partitions"])
        if partitions < MOST_PARTITIONS:
            admin.create_partitions({soak.topic: partitions + 1})


def retention_passes_what_was_learned(soak: Soak) -> None:
    """Retention removes records that every checkpoint has passed: nothing is lost."""
    at = soak.daemon.oldest_positions()
    soak.log.read()
    for partition, offset in at.items():
        remove_before(soak, partition, soak.random.randint(0, offset))


def retention_passes_the_daemon(soak: Soak) -> None:
    """Retention removes records that were not read: with `on_gap: continue` the daemon reports how many."""
    soak.daemon.kill()
    partition, at = soak.random.choice(sorted(soak.daemon.positions().items()))
    until(lambda: soak.log.read()[partition] > at, SECONDS, "more records than were read")
    bound = soak.random.randint(at + 1, soak.log.ends[partition])
    remove_before(soak, partition, bound)
    soak.remove(partition, range(at, bound))
    soak.daemon.start()
    # An older checkpoint would miss more records than these.
    until(lambda: _all_beyond(soak.daemon, partition, bound), SECONDS, "the deletion of older checkpoints")


def _all_beyond(daemon: Daemon, partition: int, bound: int) -> bool:
    daemon.require_alive()
    return daemon.oldest_positions().get(partition, 0) >= bound


def remove_before(soak: Soak, partition: int, offset: int) -> None:
    """Remove the records before an offset."""
    until_succeeds(lambda: _remove(soak, partition, offset), KafkaError, SECONDS, "the removal of records")


def _remove(soak: Soak, partition: int, offset: int) -> None:
    with KafkaAdminClient(bootstrap_servers=soak.server) as admin:
        admin.delete_records({TopicPartition(soak.topic, partition): offset})


def topic_created_again(soak: Soak) -> None:
    """A topic of the same name under a daemon of its own, which stops with 65 and does not start again."""
    topic = f"{soak.topic}-{next(_numbers)}"
    daemon = Daemon(soak.server, topic, soak.folder / topic)
    try:
        make(soak.server, topic)
        daemon.start()
        until(lambda: daemon.reaches({0: 0}), SECONDS, "the first checkpoint")
        with KafkaAdminClient(bootstrap_servers=soak.server) as admin:
            admin.delete_topics([topic])
        make(soak.server, topic)
        assert daemon.wait() == 65
        daemon.start()
        assert daemon.wait() == 65
    finally:
        daemon.end()


def make(server: str, topic: str) -> None:
    """Create a topic with a few records, however long that takes brokers that come and go."""
    until_succeeds(lambda: create(server, topic, 1), KafkaError, SECONDS, "a topic")
    until_succeeds(lambda: write(server, topic, 20), KafkaError, SECONDS, "records")


OF_TOPICS = (
    add_a_partition, retention_passes_what_was_learned, retention_passes_the_daemon, topic_created_again,
)  # fmt: skip
