"""Commits for lag monitoring: what an operator reads of those that fail."""

import logging

import pytest
from kafka import errors
from kafka.net.selector import NetworkSelector

from streamlearn.data import Position, TopicPartition
from streamlearn.stream.kafka.connection import BrokerWait, ConnectionManager
from streamlearn.stream.kafka.offset_publisher import OffsetPublisher

TRANSIENT = errors.CoordinatorNotAvailableError()


@pytest.fixture
def clock() -> list[float]:
    """The time, which a test sets."""
    return [0.0]


@pytest.fixture
def publisher(clock: list[float]) -> OffsetPublisher:
    manager = ConnectionManager(NetworkSelector(), BrokerWait("b"), api_version=(3, 9))
    return OffsetPublisher(manager, "group", clock=lambda: clock[0])


def test_a_coordinator_that_is_away_is_news_once_it_lasts(
    publisher: OffsetPublisher, clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "streamlearn")
    for clock[0], answer in ((0, TRANSIENT), (29, TRANSIENT), (30, "done"), (31, TRANSIENT), (60, TRANSIENT)):
        publisher._published({}, answer)
    assert caplog.messages == []
    for clock[0] in (61, 90):
        publisher._published({}, TRANSIENT)
    [message] = caplog.messages
    assert "learning continues" in message
    assert publisher.refusal is None


def test_a_commit_that_failed_is_repeated_while_the_stream_is_idle(
    publisher: OffsetPublisher, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[float] = []
    monkeypatch.setattr(publisher._coordinator, "commit_offsets_async", lambda *_: commits.append(clock[0]))
    publisher.publish({TopicPartition("orders", 0): Position(3)})
    publisher._published({}, TRANSIENT)
    for clock[0] in range(1, 12):
        publisher.follow()
    publisher._published({}, "done")
    for clock[0] in range(12, 30):
        publisher.follow()
    assert commits == [0, 5, 10]


def test_another_error_is_news_at_once(publisher: OffsetPublisher, caplog: pytest.LogCaptureFixture) -> None:
    publisher._published({}, errors.InvalidGroupIdError())
    publisher._published({}, errors.InvalidGroupIdError())
    assert len(caplog.messages) == 1


def test_a_group_that_may_not_commit_is_refused(publisher: OffsetPublisher) -> None:
    publisher._published({}, errors.GroupAuthorizationFailedError())
    assert publisher.refusal is not None
