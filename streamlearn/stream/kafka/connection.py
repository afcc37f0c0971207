"""Connecting a kafka-python client: waiting for a broker, stopping early, counting answers."""

# The stubs of kafka-python leave these calls untyped.
# mypy: disable-error-code="no-untyped-call"

import logging
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, TypeVar

from kafka import TopicPartition as KafkaPartition
from kafka import errors
from kafka.future import Future
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from streamlearn.errors import BrokerUnavailableError, ConfigError, StreamlearnError
from streamlearn.stream.kafka.client_errors import REFUSALS, TlsError, converted, reason

log = logging.getLogger(__name__)

_SLICE_MS = 200
RETRY_SECONDS = _SLICE_MS / 1000
_QUIET_SECONDS = 1.0
# Each attempt at a request gets twice the time of the one before: a stop takes effect soon, and a slow
# network still works.
_ATTEMPTS_MS = (1000, 2000, 4000, 8000)

_ANY_VERSION = (3, 9)

T = TypeVar("T")


@dataclass(slots=True)
class BrokerWait:
    """Waiting for a broker or for the leader of a partition, up to a timeout or until the program stops.

    Attributes
    ----------
    where : the brokers, for messages.
    timeout_seconds : maximum time without an answer; None waits indefinitely.
    stopping : polled while waiting; True ends the wait.
    clock : monotonic seconds.
    """

    where: str
    timeout_seconds: float | None = None
    stopping: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    _since: float | None = field(default=None, init=False)
    _is_logged: bool = field(default=False, init=False)

    def keep_waiting(self, why: BaseException | None, whom: str = "broker") -> None:
        """Return if the caller should wait longer; log the first time.

        Parameters
        ----------
        why : the most recent failure.
        whom : what is waited for.

        Raises
        ------
        BrokerUnavailableError : the timeout has passed, or the program is stopping.
        """
        now = self.clock()
        self._since = now if self._since is None else self._since
        waited = now - self._since
        cause = f": {reason(why)}" if why else ""
        if self.stopping():
            raise BrokerUnavailableError(f"{self.where}: stopped while waiting for a {whom}{cause}")
        if self.timeout_seconds is not None and waited >= self.timeout_seconds:
            raise BrokerUnavailableError(f"{self.where}: no {whom} answered within {waited:.0f} s{cause}")
        if waited >= _QUIET_SECONDS and not self._is_logged:
            self._is_logged = True
            log.warning("%s: waiting for a %s%s", self.where, whom, cause)

    def answered(self, whom: str = "broker") -> None:
        """Note that what was waited for answered, which ends the wait."""
        if self._is_logged:
            log.info("%s: connected to a %s", self.where, whom)
        self._since, self._is_logged = None, False


class ConnectionManager(KafkaConnectionManager):
    """kafka-python's connection manager that also counts answers and can wait for the first broker.

    Attributes
    ----------
    net : the event loop of the connections.
    where : the brokers, for messages.
    answers : number of responses received from any broker.
    last_failure : most recent connection error since the last answer, or None; a refusal takes precedence.
    """

    def __init__(self, net: NetworkSelector, wait: BrokerWait, **configs: Any) -> None:
        super().__init__(net, **configs)
        # kafka-python 3.0 drops this setting, and its metadata requests would create missing topics.
        self.cluster.config["allow_auto_create_topics"] = False
        self._all_bootstrap_brokers = self.cluster.bootstrap_brokers
        self.cluster.bootstrap_brokers = self._bootstrap_brokers  # type: ignore[method-assign]
        self._leader_for_partition = self.cluster.leader_for_partition
        self.cluster.leader_for_partition = self._leader  # type: ignore[method-assign]
        self.net = net
        self.where = wait.where
        self.answers = 0
        self.last_failure: BaseException | None = None
        self._broker_wait = wait

    def send(self, request: Any, node_id: Any = None, request_timeout_ms: Any = None) -> Future:
        """Send a request, and count its answer."""
        future: Future = super().send(request, node_id, request_timeout_ms)
        return future.add_callback(self._answered)

    def get_connection(self, *args: Any, **kwargs: Any) -> Any:
        """Return a connection, and record its error if it fails."""
        connection = super().get_connection(*args, **kwargs)
        connection.init_future.add_errback(self._failed)
        return connection

    def bootstrap(self, timeout_ms: Any = None, refresh: bool = True) -> None:  # noqa: ARG002
        """Wait for the first broker until the timeout."""
        future = self.bootstrap_async(None, refresh)
        while not future.is_done:
            try:
                self.run(self.wait_for, future, _SLICE_MS)
            except errors.KafkaTimeoutError:
                if isinstance(self.last_failure, REFUSALS):
                    raise self.last_failure from None
                self._broker_wait.keep_waiting(self.last_failure)
        if future.exception is not None:
            raise future.exception
        self._broker_wait.answered()

    def _bootstrap_brokers(self) -> list[Any]:
        """Return the brokers that may be tried now; all if each has just failed."""
        # kafka-python 3.0 chooses at random, and sits out the backoff of one that is down.
        brokers = self._all_bootstrap_brokers()
        return [broker for broker in brokers if self.connection_delay(broker.node_id) <= 0] or brokers

    def _leader(self, partition: KafkaPartition) -> int | None:
        """Return the node that leads a partition, -1 if there is none, None if the partition is unknown."""
        leader: int | None = self._leader_for_partition(partition)
        # A broker may name a new leader of which the client has no address yet. kafka-python 3.0 would raise
        # on every poll, for all partitions; for one without a leader it asks for the addresses again.
        return leader if leader is None or self.cluster.broker_metadata(leader) else -1

    def _answered(self, _: object) -> None:
        self.answers += 1
        self.last_failure = None

    def _failed(self, error: BaseException) -> None:
        if not isinstance(self.last_failure, REFUSALS):
            self.last_failure = error

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        # A broker rejects wrong credentials and closes the connection at once. kafka-python 3.0 discards an
        # answer that arrives together with the end of the connection, and would then retry indefinitely.
        try:
            transport = await super()._build_transport(node, timeout_at)  # type: ignore[misc]
        except (errors.KafkaConnectionError, ssl.SSLError) as error:
            raise _of_tls(error) or error from None
        receive = transport._sock_recv
        transport._sock_recv = lambda: _data_before_end(*receive())
        return transport


def _of_tls(error: BaseException) -> TlsError | None:
    """Return the TLS error if retrying cannot help; a broker that starts or stops just closes connections."""
    cause = error if isinstance(error, ssl.SSLError) else error.__context__
    if not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return None
    return TlsError(getattr(cause, "verify_message", "") or cause.reason or str(cause))


def _data_before_end(data: bytes, error: Exception | None) -> tuple[bytes, Exception | None]:
    """Report the end of a connection only at the next read if data arrived before it."""
    return (data, None) if data else (data, error)


def connect(
    build: Callable[..., T], settings: Mapping[str, Any], wait: BrokerWait
) -> tuple[T, ConnectionManager]:
    """Build a client, wait until it has reached a broker, and return it with its connections.

    Raises
    ------
    BrokerUnavailableError, AuthenticationError, ConfigError
    """
    silence_client_log()
    made: list[ConnectionManager] = []

    def net_client(**configs: Any) -> KafkaNetClient:
        net = NetworkSelector(**configs)
        made.append(ConnectionManager(net, wait, **configs))
        return KafkaNetClient(net=net, manager=made[-1], **configs)

    try:
        client = build(**settings, kafka_client=net_client)
        # With api_version set, the constructor does not connect.
        made[-1].bootstrap(refresh=False)
    except Exception as error:
        # The constructor leaves its thread running when it raises.
        for manager in made:
            manager.close()
            manager.net.close()
        raise converted(error, wait.where) from error
    return client, made[-1]


def require_accepted(build: Callable[..., Any], settings: Mapping[str, Any]) -> None:
    """Return if kafka-python can build a client of these settings, without connecting it.

    Raises
    ------
    ConfigError
    """
    silence_client_log()
    made: list[_Offline] = []

    def net_client(**configs: Any) -> KafkaNetClient:
        net = NetworkSelector(**configs)
        made.append(_Offline(net, **configs))
        return KafkaNetClient(net=net, manager=made[-1], **configs)

    try:
        # With a version the constructor does not ask a broker for it.
        build(**{"api_version": _ANY_VERSION} | dict(settings), kafka_client=net_client)
    except Exception as error:
        raise ConfigError(f"kafka-python rejects the client settings: {reason(error)}") from error
    finally:
        for manager in made:
            manager.close()
            manager.net.close()


class _Offline(KafkaConnectionManager):
    """A connection manager that never connects."""

    def __init__(self, net: NetworkSelector, **configs: Any) -> None:
        super().__init__(net, **configs)
        self.net = net

    def bootstrap(self, timeout_ms: Any = None, refresh: bool = True) -> None:
        """Do nothing."""


def retry(request: Callable[[int], T], wait: BrokerWait) -> T:
    """Return the answer to a request, retrying transient errors until the timeout.

    Parameters
    ----------
    request : called with the milliseconds that this attempt may take.
    """
    for timeout_ms in patience():
        try:
            answer = request(timeout_ms)
        except StreamlearnError:
            raise
        except errors.RetriableError as error:
            wait.keep_waiting(error)
            # Some attempts fail immediately while no broker is available.
            time.sleep(RETRY_SECONDS)
        except Exception as error:
            raise converted(error, wait.where) from error
        else:
            break
    wait.answered()
    return answer


def patience() -> Iterator[int]:
    """Yield, without end, how many milliseconds each attempt at a request may take."""
    return chain(_ATTEMPTS_MS, repeat(_ATTEMPTS_MS[-1]))


def silence_client_log() -> None:
    """Silence kafka-python, which logs every retry; the important events are logged here.

    A level that was set explicitly on the logger ``kafka`` is kept.
    """
    logger = logging.getLogger("kafka")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
