"""What is done to brokers."""

import time

from tests.soak.faults import kill
from tests.soak.soak import Soak

MINUTE = 60.0


def broker_away(soak: Soak) -> None:
    """A broker that does not answer for longer than its session lasts: others lead, then it comes back."""
    node = soak.leader()
    node.freeze()
    try:
        pass_time(soak)
    finally:
        node.thaw()


def broker_killed(soak: Soak) -> None:
    """The leader of a partition dies, and is started again; what follows does not wait until it is back."""
    node = soak.leader()
    node.kill()
    try:
        pass_time(soak)
    finally:
        node.launch()


def all_away_for_a_minute(soak: Soak) -> None:
    """No broker answers for a minute."""
    nodes = soak.cluster.nodes.values()
    for node in nodes:
        node.freeze()
    try:
        time.sleep(MINUTE)
    finally:
        for node in nodes:
            node.thaw()


def pass_time(soak: Soak) -> None:
    """Wait for longer than a broker's session lasts, in half of the cases with kills of the daemon."""
    if soak.random.random() < 0.5:
        kill(soak)
    time.sleep(soak.random.uniform(1.0, 5.0))


OF_BROKERS = (broker_away, broker_killed)
