"""Checking a cluster without consuming anything: one finding for each requirement."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka import KafkaConsumer

from streamlearn.data import TopicPartition
from streamlearn.errors import (
    AuthenticationError,
    BrokerUnavailableError,
    ConfigError,
    StreamError,
    StreamlearnError,
)
from streamlearn.stream.kafka.client_errors import converted
from streamlearn.stream.kafka.connection import (
    RETRY_SECONDS,
    BrokerWait,
    ConnectionManager,
    connect,
    patience,
)
from streamlearn.stream.kafka.known_offsets import has_leader, known_offsets
from streamlearn.stream.kafka.metadata import Topic, describe
from streamlearn.stream.kafka.settings import brokers, settings_for


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: its name, whether it passed, and one line of explanation.

    `exit_code` is the exit code of a daemon that fails this check.
    """

    name: str
    ok: bool
    message: str
    exit_code: int = 0

    @classmethod
    def problem(cls, name: str, error: StreamlearnError) -> "Finding":
        """Return the finding for a check that failed with `error`."""
        return cls(name, False, str(error), error.exit_code)


def probe(
    client: Mapping[str, Any],
    topics: Sequence[str],
    partitions: Sequence[int] | None = None,
    timeout_seconds: float = 10.0,
) -> list[Finding]:
    """Check whether `topics` can be read; never raises.

    Findings are named "client", "broker", "authentication", "topic NAME" and "read NAME". If a check fails,
    those that depend on it are left out.
    """
    where = brokers(client)
    ours = {"enable_auto_commit": False, "auto_offset_reset": "none", "isolation_level": "read_committed"}
    try:
        settings = settings_for(KafkaConsumer, client, ours)
        consumer, manager = connect(KafkaConsumer, settings, BrokerWait(where, timeout_seconds))
    except Exception as error:
        return _not_connected(where, converted(error, where))
    findings = [
        Finding("broker", True, f"{where}: a broker answers"),
        Finding("authentication", True, f"{where}: {_login(client)}"),
    ]
    try:
        for name in topics:
            findings += _topic(consumer, manager, name, partitions, BrokerWait(where, timeout_seconds))
    finally:
        consumer.close(autocommit=False, timeout_ms=1000)
    return findings


def _not_connected(where: str, error: StreamlearnError) -> list[Finding]:
    if isinstance(error, ConfigError):
        return [Finding.problem("client", error)]
    if isinstance(error, AuthenticationError):
        reached = Finding("broker", True, f"{where}: a broker answers")
        return [reached, Finding.problem("authentication", error)]
    return [Finding.problem("broker", error)]


def _login(client: Mapping[str, Any]) -> str:
    mechanism = client.get("sasl_mechanism")
    if str(client.get("security_protocol", "")).startswith("SASL"):
        return f"the broker accepts the credentials ({mechanism})"
    return "no credentials required"


def _topic(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    name: str,
    partitions: Sequence[int] | None,
    wait: BrokerWait,
) -> list[Finding]:
    try:
        topic = describe(manager, [name], wait).topics[name]
    except Exception as error:
        return [Finding.problem(f"topic {name}", converted(error, wait.where))]
    absent = sorted(set(partitions or ()) - topic.partitions)
    count = len(topic.partitions)
    if absent:
        why = StreamError(f"{name}: no partitions {absent}, the topic has {count}; see source.partitions")
        return [Finding.problem(f"topic {name}", why)]
    found = Finding(f"topic {name}", True, f"{name}: exists, partitions: {count}")
    return [found, _readable(consumer, manager, name, topic, partitions, wait)]


def _readable(
    consumer: KafkaConsumer,
    manager: ConnectionManager,
    name: str,
    topic: Topic,
    partitions: Sequence[int] | None,
    wait: BrokerWait,
) -> Finding:
    chosen = topic.partitions if partitions is None else partitions
    asked = {TopicPartition(name, partition) for partition in chosen}
    ends: dict[TopicPartition, int] = {}
    try:
        for timeout_ms in patience():
            beginnings = known_offsets(consumer, manager, asked, "earliest", timeout_ms)
            ends = known_offsets(consumer, manager, beginnings, "latest", timeout_ms)
            if ends.keys() == asked:
                break
            wait.keep_waiting(manager.last_failure)
            time.sleep(RETRY_SECONDS)
    except BrokerUnavailableError:
        silent = sorted(asked - ends.keys())
        leaderless = [tp for tp in silent if not has_leader(manager, tp)]
        why = "no broker leads" if leaderless else "the leader does not answer for"
        named = ", ".join(map(str, leaderless or silent))
        problem = BrokerUnavailableError(
            f"{why} {named}; a daemon learns from the other partitions and waits for this"
        )
        return Finding.problem(f"read {name}", problem)
    except Exception as error:
        return Finding.problem(f"read {name}", converted(error, f"{name}: {wait.where}"))
    records = sum(ends.values()) - sum(beginnings.values())
    return Finding(f"read {name}", True, f"{name}: readable, about {records} records")
