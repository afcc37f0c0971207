"""Faults of brokers."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tests.kafka.broker import ApacheKafka
from tests.soak.faults import kill
from tests.soak.soak import Soak

MINUTE = 60.0


def broker_away(soak: Soak) -> None:
    """A broker does not answer for longer than its session lasts: others lead, then it returns."""
    with frozen([soak.leader()]):
        pass_time(soak)


def broker_killed(soak: Soak) -> None:
    """The leader of a partition is killed and restarted; the soak continues without waiting for it."""
    node = soak.leader()
    node.kill()
    try:
        pass_time(soak)
    finally:
        node.launch()


def all_away_for_a_minute(soak: Soak) -> None:
    """No broker answers for a minute."""
    with frozen(soak.cluster.nodes.values()):
        time.sleep(MINUTE)


@contextmanager
def frozen(nodes: Iterable[ApacheKafka]) -> Iterator[None]:
    """Keep brokers from answering."""
    for node in nodes:
        node.freeze()
    try:
        yield
    finally:
        for node in nodes:
            node.thaw()


def pass_time(soak: Soak) -> None:
    """Wait for longer than a broker's session lasts, in half of the cases with kills of the daemon."""
    if soak.random.random() < 0.5:
        kill(soak)
    time.sleep(soak.random.uniform(1.0, 5.0))


OF_BROKERS = (broker_away, broker_killed)
