from pathlib import Path
from typing import Any

import pytest

from streamlearn.errors import BrokerUnavailableError, StreamError
from streamlearn.stream.deadletters.outbox import Done, Outbox
from streamlearn.stream.deadletters.spool import Spool, read_spool
from tests.stream.deadletters.test_dead_letter import letter


class Topic:
    """A topic that acknowledges when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[Done] = []
        self.values: list[bytes | None] = []
        self.is_deleted = False

    def is_gone(self) -> bool:
        return self.is_deleted

    def send(self, *record: Any, **_: Any) -> None:
        key, value, headers, done = record
        assert (key, headers[0]) == (b"\x00k", ("content-type", b"application/json"))
        self.values.append(value)
        self.waiting.append(done)

    def answer(self, error: StreamError | None = None) -> None:
        self.waiting.pop(0)(error)


def box(topic: Topic | None, spool: Spool | None = None) -> tuple[Outbox, list[tuple[str, int]]]:
    told: list[tuple[str, int]] = []
    return Outbox(topic, spool, lambda outcome, count: told.append((outcome, count))), told


def test_nothing_is_durable_before_the_topic_acknowledges_it() -> None:
    topic = Topic()
    outbox, told = box(topic)
    assert outbox.settle(0.0)
    outbox.send(letter())
    outbox.send(letter())
    assert not outbox.settle(0.0)
    topic.answer()
    assert not outbox.settle(0.0)
    topic.answer()
    assert outbox.settle(0.0)
    assert sum(count for _, count in told) == 2
    assert {outcome for outcome, _ in told} == {"delivered"}


def test_a_topic_that_refuses_stops_for_good_where_there_is_no_file() -> None:
    topic = Topic()
    outbox, told = box(topic)
    outbox.send(letter())
    topic.answer(StreamError("too large"))
    for _ in range(2):
        with pytest.raises(BrokerUnavailableError, match=r"orders\[3\]@1841: .* delivered: too large"):
            outbox.settle(0.0)
    assert told == []


def test_what_the_topic_refuses_goes_to_the_file_and_the_rest_to_the_topic(tmp_path: Path) -> None:
    topic = Topic()
    outbox, told = box(topic, Spool(tmp_path / "letters"))
    outbox.send(letter("one"))
    outbox.send(letter("two"))
    topic.answer()
    topic.answer(StreamError("too large"))
    assert outbox.settle(0.0)
    assert told == [("delivered", 1), ("spooled", 1)]
    assert [each.message for each in read_spool(tmp_path / "letters")] == ["two"]
    assert outbox.settle(0.0)
    assert len(told) == 2


def test_without_a_topic_all_go_to_the_file(tmp_path: Path) -> None:
    outbox, told = box(None, Spool(tmp_path / "letters"))
    for message in ("one", "two"):
        outbox.send(letter(message))
    assert outbox.settle(0.0)
    assert told == [("spooled", 2)]
    assert [each.message for each in read_spool(tmp_path / "letters")] == ["one", "two"]


def test_a_topic_that_is_deleted_is_not_waited_for_where_there_is_no_file(tmp_path: Path) -> None:
    topic = Topic()
    outbox, _ = box(topic)
    spooling, _ = box(topic, Spool(tmp_path / "spool"))
    topic.is_deleted = True
    assert outbox.settle(0.0)
    outbox.send(letter())
    spooling.send(letter())
    with pytest.raises(BrokerUnavailableError, match="their topic was deleted"):
        outbox.settle(0.0)
    assert not spooling.settle(0.0)
