"""A Kafka cluster as a `Source`: static assignment, our own offsets, raw bytes."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from kafka import KafkaConsumer

from streamlearn.choices import RestartReason
from streamlearn.data import PartitionStatus, Position, Record, StreamIdentity, TopicPartition
from streamlearn.errors import AuthenticationError, BrokerUnavailableError, StreamError
from streamlearn.stream.kafka.assignment import require_covered, to_assign
from streamlearn.stream.kafka.client_errors import REFUSALS, converted
from streamlearn.stream.kafka.connection import (
    RETRY_SECONDS,
    BrokerWait,
    ConnectionManager,
    connect,
    patience,
)
from streamlearn.stream.kafka.known_offsets import Start, ask_for_leaders, has_leader, known_offsets
from streamlearn.stream.kafka.liveness import AnswerMonitor, LeaderMonitor, TopicMonitor
from streamlearn.stream.kafka.metadata import Cluster, describe
from streamlearn.stream.kafka.offset_publisher import OffsetPublisher
from streamlearn.stream.kafka.positions import place, start_offsets
from streamlearn.stream.kafka.read_settings import ReadSettings, consumer_settings
from streamlearn.stream.kafka.reader import PartitionReader
from streamlearn.stream.kafka.settings import brokers
from streamlearn.stream.kafka.stalls import StallDetector

# Bounds the delay of a stop: poll() cannot be interrupted.
_POLL_MS = 1000
_CLOSE_MS = 1000
_RENEW_SECONDS = 10.0
_REQUEST_MS = 1000
_OPEN_ATTEMPTS = 3
_ADMIT_SECONDS = 1.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Session:
    """The client and its monitors, from the first connection until the source is closed."""

    consumer: KafkaConsumer
    manager: ConnectionManager
    cluster: Cluster
    answers: AnswerMonitor
    watch: TopicMonitor
    leaders: LeaderMonitor
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
        self._client_settings = consumer_settings(client, settings)
        self._settings = settings
        self._topics = sorted(set(settings.topics))
        self._partitions = None if settings.partitions is None else frozenset(settings.partitions)
        self._on_lost = on_lost
        self._on_restart = on_restart
        self._stalls = StallDetector(settings.stall_seconds, clock)
        self._stopping = stopping
        self._clock = clock
        self._wait = BrokerWait(brokers(client), settings.connect_timeout_seconds, stopping, clock)
        self._next_admission = -math.inf
        self._session: _Session | None = None
        self._reader: PartitionReader | None = None

    def identity(self) -> StreamIdentity:
        """Return the cluster and topic ids; waits for a broker."""
        cluster = self._connect().cluster
        ids = {name: topic.topic_id for name, topic in cluster.topics.items() if topic.topic_id}
        return StreamIdentity(cluster.cluster_id, ids)

    def start_positions(self) -> dict[TopicPartition, Position]:
        """Resolve the configured start to offsets; waits for a broker.

        A partition that is read from its beginning and has no leader is left out: `open` reads it from there
        anyhow, once it has one. Any other start is waited for, since it would mean something else later.
        """
        session = self._connect()
        assigned = to_assign(session.cluster, self._partitions)
        if self._settings.can_wait(self._settings.start):
            offsets = known_offsets(session.consumer, session.manager, assigned, "earliest", _REQUEST_MS)
        else:
            offsets = self._starts(session, assigned)
        return {tp: Position(offset) for tp, offset in sorted(offsets.items())}

    def open(self, positions: Mapping[TopicPartition, Position]) -> dict[TopicPartition, int]:
        """Check that the log still holds `positions`, and seek to them; waits for a broker.

        A partition without a position is read from its beginning, or from `start` if no partition of its
        topic has a position. A partition whose leader does not answer is checked and read later, by `poll`.

        Raises
        ------
        ConfigError : positions of a topic or partition that is not configured.
        StreamError : a partition is gone, was truncated or recreated, or records were lost and
            `on_gap` is "fail".
        """
        session = self._connect()
        assigned = to_assign(session.cluster, self._partitions)
        require_covered(positions, assigned, self._topics if self._partitions is None else ())
        known = {topic for topic, _ in positions}
        starts: dict[TopicPartition, Start] = {
            tp: "earliest" if tp.topic in known else self._settings.start
            for tp in assigned
            if tp not in positions
        }
        fixed = self._starts(session, [tp for tp, at in starts.items() if not self._settings.can_wait(at)])
        reader = PartitionReader(
            session.consumer,
            session.manager,
            self._settings.on_gap,
            self._on_lost,
            lambda: self._renew("unreadable"),
            self._stopping,
        )
        given = {tp: Position(offset) for tp, offset in fixed.items()} | dict(positions)
        reader.expect({tp: given.get(tp) for tp in assigned})
        self._reader = reader
        lost: dict[TopicPartition, int] = {}
        # Leaders may be elected at this moment, or take long to answer.
        for timeout_ms in islice(patience(), _OPEN_ATTEMPTS):
            lost |= reader.admit(reader.pending, timeout_ms)
            if not reader.pending or self._stopping():
                break
            time.sleep(RETRY_SECONDS)
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
        if session.publisher is not None:
            session.publisher.follow()
            if session.publisher.refusal is not None:
                raise AuthenticationError(
                    f"{self._wait.where}: not permitted to commit offsets of the group "
                    f"{self._settings.group_id!r}; grant READ on it, or set source.group to ''"
                )
        added = session.watch.look(reader.partitions)
        if added and self._partitions is None and self._settings.follow:
            log.info("new partitions: %s", ", ".join(map(str, sorted(added))))
            reader.expect(dict.fromkeys(added))
        session.leaders.look(reader.partitions)
        self._admit(session, reader)
        self._look_for_stalls(session, reader)
        return polled[0] if len(polled) == 1 else list(chain.from_iterable(polled))

    def restrict(self, partitions: Sequence[TopicPartition]) -> None:
        """Fetch only from these partitions until the next call."""
        self._opened()[1].restrict(partitions)

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        """Return the status of each partition, without asking the broker; empty before `open`.

        While no broker answers, or no leader, ends and lag are unknown: what was last known of them may be
        wrong by now.
        """
        if self._reader is None or self._session is None:
            return {}
        found = self._reader.status()
        for tp in self._session.leaders.without:
            found[tp] = replace(found[tp], high_watermark=None, lag=None, has_leader=False)
        if self.connected:
            return found
        return {tp: replace(at, high_watermark=None, lag=None) for tp, at in found.items()}

    def has_read_to(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Return whether all records before these ends were returned."""
        found = self.status()
        return all(found[tp].position >= end for tp, end in ends.items())

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
            LeaderMonitor(manager, self._settings.silence_seconds, self._clock),
            OffsetPublisher(manager, self._settings.group_id) if self._settings.group_id else None,
        )

    def _starts(self, session: _Session, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        start = self._settings.start
        return start_offsets(session.consumer, session.manager, partitions, start, self._wait)

    def _admit(self, session: _Session, reader: PartitionReader) -> None:
        """Try to read the partitions that are waited for."""
        if not reader.pending or self._clock() < self._next_admission:
            return
        led = [tp for tp in reader.pending if has_leader(session.manager, tp)]
        if len(led) < len(reader.pending):
            ask_for_leaders(session.manager, reader.pending)
        for tp, count in reader.admit(led, _REQUEST_MS).items():
            self._on_lost(tp, count)
        # A leader that answers but does not return the last record would hold up the others each time.
        self._next_admission = self._clock() + _ADMIT_SECONDS

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
            self._renew("stalled")

    def _renew(self, why: RestartReason) -> None:
        """Replace the client by a new one; no change if no broker answers."""
        old, reader = self._opened()
        wait = BrokerWait(self._wait.where, _RENEW_SECONDS, self._stopping, self._clock)
        try:
            # With the topic ids as first seen, so that a recreated topic is still detected.
            session = self._new_session(wait, old.cluster)
        except BrokerUnavailableError:
            return
        self._session = session
        reader.change_to(session.consumer, session.manager)
        self._stalls.forget()
        old.close()
        self._on_restart(why)

    def _opened(self) -> tuple[_Session, PartitionReader]:
        if self._session is None or self._reader is None:
            raise StreamError(f"{self._wait.where}: the source is not open; call open before poll")
        return self._session, self._reader
