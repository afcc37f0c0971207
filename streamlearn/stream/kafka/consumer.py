"""A Kafka cluster as a `Source`: static assignment, our own offsets, raw bytes."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from kafka import KafkaConsumer

from streamlearn.choices import RestartReason
from streamlearn.data import PartitionStatus, Position, Record, StreamIdentity, TopicPartition
from streamlearn.errors import AuthenticationError, BrokerUnavailableError, ConfigError, StreamError
from streamlearn.stream.kafka.client_errors import REFUSALS, converted
from streamlearn.stream.kafka.connection import BrokerWait, ConnectionManager, connect
from streamlearn.stream.kafka.liveness import AnswerMonitor, TopicMonitor
from streamlearn.stream.kafka.metadata import Cluster, describe
from streamlearn.stream.kafka.offset_publisher import OffsetPublisher
from streamlearn.stream.kafka.positions import lost_records, place, start_offsets, verify
from streamlearn.stream.kafka.read_settings import ReadSettings
from streamlearn.stream.kafka.reader import PartitionReader
from streamlearn.stream.kafka.settings import brokers, settings_for
from streamlearn.stream.kafka.stalls import StallDetector

# Bounds the delay of a stop: poll() cannot be interrupted.
_POLL_MS = 1000
_CLOSE_MS = 1000
_RENEW_SECONDS = 10.0


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Session:
    """The client and its monitors, from the first connection until the source is closed."""

    consumer: KafkaConsumer
    manager: ConnectionManager
    cluster: Cluster
    answers: AnswerMonitor
    watch: TopicMonitor
    publisher: OffsetPublisher | None

    def close(self) -> None:
        """Close the client; waits up to two seconds for the last published offsets."""
        if self.publisher is not None and self.answers.recent:
            self.publisher.close()
        self.consumer.close(autocommit=False, timeout_ms=_CLOSE_MS)


def _ignore(partition: TopicPartition, count: int) -> None:
    """Ignore lost records, which are logged anyway."""


def _ignore_restart(reason: RestartReason) -> None:
    """Ignore the restart, which is logged anyway."""


class KafkaSource:
    """Topics of a Kafka cluster, read from positions that the caller stores.

    Partitions are assigned statically: there is no consumer group to join, no rebalance, and committed
    offsets are never read back. The caller compares `identity` with the one in its checkpoint before `open`;
    from then on a topic that is recreated stops the source.

    Parameters
    ----------
    client : kafka-python's own settings, verbatim (``bootstrap_servers``, ``security_protocol``, …).
    settings : what to read.
    stopping : polled while waiting for a broker; True ends the wait with BrokerUnavailableError.
    on_lost : called with partition and count when records turn out to be lost while polling.
    on_restart : called with the reason when the client was recreated.
    clock : monotonic seconds.
    """

    def __init__(
        self,
        client: Mapping[str, Any],
        settings: ReadSettings,
        *,
        stopping: Callable[[], bool] = lambda: False,
        on_lost: Callable[[TopicPartition, int], None] = _ignore,
        on_restart: Callable[[RestartReason], None] = _ignore_restart,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client_settings = _client_settings(client, settings)
        self._settings = settings
        self._topics = sorted(set(settings.topics))
        self._partitions = None if settings.partitions is None else frozenset(settings.partitions)
        self._on_lost = on_lost
        self._on_restart = on_restart
        self._stalls = StallDetector(settings.stall_seconds, clock)
        self._stopping = stopping
        self._clock = clock
        self._wait = BrokerWait(brokers(client), settings.connect_timeout_seconds, stopping, clock)
        self._session: _Session | None = None
        self._reader: PartitionReader | None = None

    def identity(self) -> StreamIdentity:
        """Return the cluster and topic ids; waits for a broker."""
        cluster = self._connect().cluster
        ids = {name: topic.topic_id for name, topic in cluster.topics.items() if topic.topic_id}
        return StreamIdentity(cluster.cluster_id, ids)

    def start_positions(self) -> dict[TopicPartition, Position]:
        """Resolve the configured start to offsets, for every partition; waits for a broker."""
        session = self._connect()
        assigned = self._to_assign(session.cluster)
        offsets = start_offsets(session.consumer, assigned, self._settings.start, self._wait)
        return {tp: Position(offset) for tp, offset in sorted(offsets.items())}

    def open(self, positions: Mapping[TopicPartition, Position]) -> dict[TopicPartition, int]:
        """Check that the log still holds `positions`, and seek to them; waits for a broker.

        A partition without a position is read from its beginning, or from `start` if no partition of its
        topic has a position.

        Raises
        ------
        ConfigError : positions of a topic or partition that is not configured.
        StreamError : a partition is gone, was truncated or recreated, or records were lost and
            `on_gap` is "fail".
        """
        session = self._connect()
        assigned = self._to_assign(session.cluster)
        self._check_covered(positions, assigned)
        beginnings = start_offsets(session.consumer, assigned, "earliest", self._wait)
        lost = lost_records(positions, beginnings, self._settings.on_gap)
        kept = {tp: at for tp, at in positions.items() if tp not in lost}
        verify(session.consumer, session.manager, kept, beginnings, self._wait)
        known = {topic for topic, _ in positions}
        fresh = [tp for tp in assigned if tp.topic not in known]
        starts = start_offsets(session.consumer, fresh, self._settings.start, self._wait) if fresh else {}
        reader = PartitionReader(
            session.consumer,
            self._wait.where,
            self._settings.on_gap,
            self._on_lost,
            lambda: self._renew("unreadable"),
        )
        reader.go_to(beginnings | starts | {tp: at.next_offset for tp, at in kept.items()})
        # An idle partition would not say how far it reaches until its next record.
        reader.ends(assigned)
        self._reader = reader
        return lost

    def poll(self, timeout_seconds: float) -> Sequence[Record]:
        """Wait for records, at most one second; also empty while no broker answers.

        Raises
        ------
        StreamError : a topic was deleted, was truncated or recreated, records were lost and `on_gap` is
            "fail", or a record cannot be read.
        AuthenticationError : the broker rejects the credentials or denies access.
        """
        session, reader = self._opened()
        session.answers.begin()
        polled = reader.poll(min(_POLL_MS, int(timeout_seconds * 1000)))
        session.answers.end()
        if not session.answers.recent and isinstance(session.manager.last_failure, REFUSALS):
            raise converted(session.manager.last_failure, self._wait.where)
        if session.publisher is not None and session.publisher.refusal is not None:
            raise AuthenticationError(
                f"{self._wait.where}: not permitted to commit offsets of the group "
                f"{self._settings.group_id!r}; grant READ on it, or set source.group to ''"
            )
        added = session.watch.look(reader.partitions)
        if added and self._partitions is None and self._settings.follow:
            reader.add(added)
        self._look_for_stalls(session, reader)
        return polled[0] if len(polled) == 1 else list(chain.from_iterable(polled))

    def restrict(self, partitions: Sequence[TopicPartition]) -> None:
        """Fetch only from these partitions until the next call."""
        self._opened()[1].restrict(partitions)

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        """Return the status of each partition, without asking the broker; empty before `open`.

        While no broker answers, ends and lag are unknown: what was last known of them may be wrong by now.
        """
        found = {} if self._reader is None else self._reader.status()
        if self.connected:
            return found
        return {tp: replace(at, high_watermark=None, lag=None) for tp, at in found.items()}

    @property
    def connected(self) -> bool:
        """Whether a broker answered recently."""
        return self._session is not None and self._session.answers.recent

    def commit(self, positions: Mapping[TopicPartition, Position]) -> None:
        """Publish the positions for lag monitoring, if there is a group to publish them under."""
        if self._session is not None and self._session.publisher is not None:
            self._session.publisher.publish(positions)

    def close(self) -> None:
        """Close the client; waits up to two seconds for the last published offsets."""
        session, self._session, self._reader = self._session, None, None
        if session is not None:
            session.close()

    def _connect(self) -> _Session:
        if self._session is None:
            self._session = self._new_session(self._wait, known=None)
        return self._session

    def _new_session(self, wait: BrokerWait, known: Cluster | None) -> _Session:
        consumer, manager = connect(KafkaConsumer, self._client_settings, wait)
        try:
            cluster = known or describe(manager, self._topics, wait)
        except Exception:
            consumer.close(autocommit=False, timeout_ms=_CLOSE_MS)
            raise
        ids = {name: topic.topic_id for name, topic in cluster.topics.items()}
        return _Session(
            consumer,
            manager,
            cluster,
            AnswerMonitor(manager, self._settings.silence_seconds, self._clock),
            TopicMonitor(manager, ids, self._settings.discovery_seconds, self._clock),
            OffsetPublisher(manager, self._settings.group_id) if self._settings.group_id else None,
        )

    def _look_for_stalls(self, session: _Session, reader: PartitionReader) -> None:
        if not session.answers.recent:
            self._stalls.forget()
            return
        stalled = self._stalls.look(reader.positions(), reader.ends)
        if stalled:
            at = reader.positions()
            log.warning(
                "unread records but none returned, recreating the client: %s",
                ", ".join(place(tp, at[tp]) for tp in stalled),
            )
            consumer = self._renew("stalled")
            if consumer is not None:
                reader.change_to(consumer)

    def _renew(self, why: RestartReason) -> KafkaConsumer | None:
        """Replace the client by a new one and return it; None (and no change) if no broker answers."""
        old = self._connect()
        wait = BrokerWait(self._wait.where, _RENEW_SECONDS, self._stopping, self._clock)
        try:
            # With the topic ids as first seen, so that a recreated topic is still detected.
            session = self._new_session(wait, old.cluster)
        except BrokerUnavailableError:
            return None
        self._session = session
        self._stalls.forget()
        old.close()
        self._on_restart(why)
        return session.consumer

    def _opened(self) -> tuple[_Session, PartitionReader]:
        if self._session is None or self._reader is None:
            raise StreamError(f"{self._wait.where}: the source is not open; call open before poll")
        return self._session, self._reader

    def _to_assign(self, cluster: Cluster) -> list[TopicPartition]:
        """Return the partitions to read, sorted.

        Raises
        ------
        StreamError : a configured partition does not exist.
        """
        for name, topic in cluster.topics.items():
            absent = sorted((self._partitions or set()) - topic.partitions)
            if absent:
                count = len(topic.partitions)
                raise StreamError(
                    f"{name}[{absent[0]}]: no such partition, the topic has {count}; see source.partitions"
                )
        return sorted(
            TopicPartition(name, partition)
            for name, topic in cluster.topics.items()
            for partition in (topic.partitions if self._partitions is None else self._partitions)
        )

    def _check_covered(
        self, positions: Mapping[TopicPartition, Position], assigned: Sequence[TopicPartition]
    ) -> None:
        for topic, partition in sorted(positions.keys() - set(assigned)):
            if topic in self._topics and self._partitions is None:
                raise StreamError(
                    f"{topic}[{partition}]: the partition no longer exists: the topic was recreated"
                )
            raise ConfigError(
                f"{topic}[{partition}]: the checkpoint has learned from it, but the configuration does "
                "not read it; add it to source.topics and source.partitions"
            )


def _client_settings(client: Mapping[str, Any], settings: ReadSettings) -> dict[str, Any]:
    defaults = {
        "isolation_level": "read_committed",
        "fetch_max_wait_ms": 500,
        "max_partition_fetch_bytes": 8 << 20,
        # By default the client may take half a minute to reconnect after a long outage.
        "reconnect_backoff_max_ms": 2000,
        "metadata_max_age_ms": max(100, int(settings.discovery_seconds * 1000)),
    }
    ours = {
        "enable_auto_commit": False,
        "auto_offset_reset": "none",
        "allow_auto_create_topics": False,
        "max_poll_records": settings.max_poll_records,
    }
    return defaults | settings_for(KafkaConsumer, client, ours)
