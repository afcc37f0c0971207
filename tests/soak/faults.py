"""What is done to a daemon, its state and its brokers."""

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kafka import KafkaAdminClient

from streamlearn.checkpoint.generations import generation_files
from tests.kafka.broker import ApacheKafka

STEPS = ("create", "write", "fsync", "replace", "fsync_directory", "prune", "done")
MOST_PARTITIONS = 6


class Patient(Protocol):
    """Who has to bear it."""

    server: str
    topic: str
    state: Path
    random: random.Random

    def start(self, step: str | None = None) -> None:
        """Start the daemon, if need be one that kills itself at a step of a checkpoint."""

    def send(self, number: int) -> None:
        """Send the daemon a signal."""

    def wait(self) -> int:
        """Wait until it has ended; give the exit code."""

    def second(self) -> int:
        """Start another one on the same state; give its exit code."""

    def node(self) -> ApacheKafka:
        """Give a broker that leads a partition."""


def kill(patient: Patient) -> None:
    """Kill -9 at any instant."""
    patient.send(signal.SIGKILL)
    patient.wait()
    patient.start()


def kill_in_a_checkpoint(patient: Patient) -> None:
    """Kill -9 between two steps of a checkpoint."""
    kill_with(patient, patient.random.choice(STEPS))


def kill_with(patient: Patient, step: str) -> None:
    """Let it kill itself at a step."""
    patient.send(signal.SIGKILL)
    patient.wait()
    patient.start(step)
    assert patient.wait() == -signal.SIGKILL
    patient.start()


def stop(patient: Patient) -> None:
    """SIGTERM: a clean end."""
    patient.send(signal.SIGTERM)
    assert patient.wait() == 0
    patient.start()


def freeze(patient: Patient) -> None:
    """SIGSTOP for a while, then SIGCONT."""
    patient.send(signal.SIGSTOP)
    time.sleep(patient.random.uniform(0.5, 4.0))
    patient.send(signal.SIGCONT)


def second_daemon(patient: Patient) -> None:
    """Another daemon on the same state."""
    assert patient.second() == 75


def damage(patient: Patient) -> None:
    """Tear, flip a bit of, or empty the newest checkpoint."""
    patient.send(signal.SIGKILL)
    patient.wait()
    files = generation_files(patient.state)
    if len(files) > 1:
        data = bytearray(files[-1].read_bytes())
        how = patient.random.randrange(3)
        if how == 0:
            data[patient.random.randrange(len(data))] ^= 1 << patient.random.randrange(8)
        files[-1].write_bytes(data[: (len(data), patient.random.randrange(len(data)), 0)[how]])
    patient.start()


def add_a_partition(patient: Patient) -> None:
    """One partition more."""
    with KafkaAdminClient(bootstrap_servers=patient.server) as admin:
        [described] = admin.describe_topics([patient.topic])
        count = len(described["partitions"])
        if count < MOST_PARTITIONS:
            admin.create_partitions({patient.topic: count + 1})


def broker_away(patient: Patient) -> None:
    """A broker that does not answer for longer than the daemon believes in it."""
    node = patient.node()
    node.freeze()
    time.sleep(patient.random.uniform(2.0, 6.0))
    node.thaw()


def broker_killed(patient: Patient) -> None:
    """The leader of a partition dies, and comes back."""
    node = patient.node()
    node.kill()
    time.sleep(patient.random.uniform(0.0, 3.0))
    node.start()


Fault = Callable[[Patient], None]

OF_THE_DAEMON: tuple[Fault, ...] = (
    kill, kill_in_a_checkpoint, damage, freeze, stop, second_daemon, add_a_partition,
)  # fmt: skip
OF_BROKERS: tuple[Fault, ...] = (broker_away, broker_killed)
