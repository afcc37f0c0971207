"""Writing to a topic, with bounded memory and every error reported."""

# The stubs of kafka-python leave these calls untyped.
# mypy: disable-error-code="no-untyped-call"

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer, errors

from streamlearn.errors import BrokerUnavailableError, StreamlearnError
from streamlearn.stream.kafka.client_errors import REFUSALS, converted
from streamlearn.stream.kafka.connection import BrokerWait, connect, require_accepted, retry
from streamlearn.stream.kafka.metadata import describe
from streamlearn.stream.kafka.settings import brokers, settings_for

_SLICE_SECONDS = 0.2
# Memory per record in the client, in addition to its bytes.
_RECORD_BYTES = 100
# A broker that has just started may not know all topics yet.
_GONE_SECONDS = 10.0
_FORCED_SECONDS = 1.0


class KafkaSink:
    """Writes records to one topic in order; each is acknowledged by all in-sync replicas.

    A record may be written twice if a broker fails before it acknowledges. A record that the broker rejects
    does not affect the others.

    Parameters
    ----------
    client : kafka-python's own settings, verbatim.
    topic : name of an existing topic.
    max_in_flight_bytes : `send` blocks while more than this is unacknowledged.
    connect_timeout_seconds : how long to wait for a broker at the start; None waits indefinitely.
    silence_seconds : `send` raises when records have been unacknowledged for longer; None waits for each as
        long as the client's `delivery_timeout_ms`.
    stopping : polled while waiting; True ends the wait with BrokerUnavailableError.

    Attributes
    ----------
    delivered, failed : numbers of records so far.
    first_error : error of the first record that failed.

    Raises
    ------
    ConfigError, BrokerUnavailableError, AuthenticationError, StreamError (no such topic)
    """

    def __init__(
        self,
        client: Mapping[str, Any],
        topic: str,
        *,
        max_in_flight_bytes: int = 32 << 20,
        connect_timeout_seconds: float | None = 30.0,
        silence_seconds: float | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        settings = producer_settings(client)
        self._wait = BrokerWait(brokers(client), connect_timeout_seconds, stopping)
        self._stopping = stopping
        self._topic = topic
        self._limit = max_in_flight_bytes
        self._in_flight_bytes = 0
        self._silence_seconds = silence_seconds
        self._silent_since = time.monotonic()
        self._changed = threading.Condition()
        self.delivered = 0
        self.failed = 0
        self.first_error: StreamlearnError | None = None
        # The producer would wait a minute for a topic that does not exist.
        _require_topic(client, topic, self._wait)
        self._producer, manager = connect(KafkaProducer, settings, self._wait)
        self._metadata = manager.cluster
        self._unknown_since: float | None = None
        # Otherwise the first send would look up the partitions, and could not be stopped.
        retry(lambda _: self._producer.partitions_for(topic), self._wait)

    def send(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]] = (),
        done: Callable[[StreamlearnError | None], None] | None = None,
        partition: int | None = None,
    ) -> None:
        """Send one record; blocks while too much is unacknowledged.

        A record that cannot be delivered is counted, see `failed` and `first_error`.

        Parameters
        ----------
        done : called from the client's thread with None once acknowledged, or with the error.
        partition : which partition to write to; chosen by the key by default.

        Raises
        ------
        AuthenticationError : the broker denies access, and would deny it for every record.
        BrokerUnavailableError : the program stopped while the record was waiting, or no broker acknowledges.
        """
        size = len(key or b"") + len(value or b"") + _RECORD_BYTES
        self._reserve(size)
        try:
            future = self._producer.send(
                self._topic,
                value=value,
                # The client rejects a record that has neither key nor value.
                key=b"" if key is None and value is None else key,
                headers=list(headers),
                partition=partition,
            )
        except REFUSALS as error:
            raise converted(error, self._wait.where) from error
        except Exception as error:
            self._settle(size, error, done)
        else:
            future.add_callback(lambda _: self._settle(size, None, done))
            future.add_errback(lambda error: self._settle(size, error, done))

    def is_gone(self) -> bool:
        """Return whether the brokers have not known the topic for ten seconds; to be called repeatedly.

        The client itself would retry until its `delivery_timeout_ms`, as it does while no broker answers.
        """
        now = time.monotonic()
        if self._metadata.partitions_for_topic(self._topic) is not None:
            self._unknown_since = None
        elif self._unknown_since is None:
            self._unknown_since = now
        return self._unknown_since is not None and now - self._unknown_since >= _GONE_SECONDS

    def flush(self, timeout_seconds: float = 30.0) -> None:
        """Wait until every record is delivered or has failed.

        Raises
        ------
        BrokerUnavailableError : some are still unacknowledged after the timeout.
        """
        deadline = time.monotonic() + timeout_seconds
        with suppress(errors.KafkaTimeoutError):
            self._producer.flush(timeout_seconds)
        with self._changed:
            if not self._changed.wait_for(lambda: self._in_flight_bytes == 0, deadline - time.monotonic()):
                raise BrokerUnavailableError(
                    f"{self._wait.where}: {self._in_flight_bytes} bytes for {self._topic} are not "
                    f"acknowledged after {timeout_seconds:.0f} s"
                )

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Close the client; records not delivered in time are dropped. Safe to call twice."""
        try:
            self._producer.close(timeout_seconds)
        except errors.KafkaTimeoutError:
            # kafka-python 3.0 waits for unacknowledged records even with a timeout of 0, and then leaves its
            # thread running.
            self._producer._sender.force_close()  # type: ignore[attr-defined]
            with suppress(errors.KafkaTimeoutError):
                self._producer.close(_FORCED_SECONDS)

    def _reserve(self, size: int) -> None:
        with self._changed:
            if not self._in_flight_bytes:
                self._silent_since = time.monotonic()
            self._require_answers()
            # A record larger than the limit is sent on its own.
            while self._in_flight_bytes and self._in_flight_bytes + size > self._limit:
                self._require_answers()
                if self._stopping():
                    raise BrokerUnavailableError(
                        f"{self._wait.where}: stopped while a record was waiting to be sent"
                    )
                self._changed.wait(_SLICE_SECONDS)
            self._in_flight_bytes += size

    def _require_answers(self) -> None:
        silent = time.monotonic() - self._silent_since
        if self._silence_seconds is not None and silent > self._silence_seconds:
            raise BrokerUnavailableError(
                f"{self._wait.where}: no broker has acknowledged a record for {self._topic} within "
                f"{self._silence_seconds:g} s"
            )

    def _settle(
        self,
        size: int,
        error: Exception | None,
        done: Callable[[StreamlearnError | None], None] | None,
    ) -> None:
        failure = None if error is None else converted(error, self._topic)
        with self._changed:
            self._in_flight_bytes -= size
            if not isinstance(failure, BrokerUnavailableError):
                self._silent_since = time.monotonic()
            if failure is None:
                self.delivered += 1
            else:
                self.failed += 1
                self.first_error = self.first_error or failure
            self._changed.notify_all()
        if done is not None:
            done(failure)


def producer_settings(client: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the producer: the given ones, and those that delivery depends on.

    Raises
    ------
    ConfigError
    """
    defaults = {
        "linger_ms": 20,
        "max_block_ms": 5000,
        "batch_size": 256 << 10,
        # The broker enforces its own limit, and reports it per record.
        "max_request_size": 64 << 20,
        "reconnect_backoff_max_ms": 2000,
        # kafka-python's idempotent producer stops sending after one record was rejected. One request at a
        # time keeps the order instead; a lost acknowledgement may duplicate records.
        "enable_idempotence": False,
        "max_in_flight_requests_per_connection": 1,
    }
    ours = {"acks": "all", "allow_auto_create_topics": False}
    found = defaults | settings_for(KafkaProducer, client, ours)
    require_accepted(KafkaProducer, found)
    return found


def create_topic(
    client: Mapping[str, Any],
    topic: str,
    partitions: int = 1,
    *,
    connect_timeout_seconds: float | None = 30.0,
    stopping: Callable[[], bool] = lambda: False,
) -> bool:
    """Create a topic with the cluster's default replication; return False if it already exists.

    Raises
    ------
    ConfigError, BrokerUnavailableError, AuthenticationError, StreamError
    """
    wait = BrokerWait(brokers(client), connect_timeout_seconds, stopping)
    admin, _ = connect(KafkaAdminClient, settings_for(KafkaAdminClient, client, {}), wait)
    wanted = {topic: {"num_partitions": partitions, "replication_factor": -1}}
    try:
        retry(lambda ms: admin.create_topics(wanted, ms, wait_for_metadata=True), wait)
    except StreamlearnError as error:
        if isinstance(error.__cause__, errors.TopicAlreadyExistsError):
            return False
        raise
    finally:
        admin.close()
    return True


def _require_topic(client: Mapping[str, Any], topic: str, wait: BrokerWait) -> None:
    admin, manager = connect(KafkaAdminClient, settings_for(KafkaAdminClient, client, {}), wait)
    try:
        describe(manager, [topic], wait)
    finally:
        admin.close()
