"""When a stream is read to where it ended at first."""

from streamlearn.daemon.catch_up import CatchUp
from streamlearn.data import TopicPartition
from streamlearn.stream.deterministic_order import MergedSource
from streamlearn.stream.source import Source
from tests.stream.memory import MemorySource

FIRST, SECOND = (TopicPartition("orders", number) for number in range(2))


def filled(first: int, second: int) -> MemorySource:
    source = MemorySource([FIRST, SECOND], max_poll_records=3)
    for tp, count in ((FIRST, first), (SECOND, second)):
        for _ in range(count):
            source.append(b"v", partition=tp)
    return source


def opened(source: Source) -> CatchUp:
    source.open(source.start_positions())
    return CatchUp(source)


def read_until(source: Source, caught_up: CatchUp) -> int:
    count = 0
    while not caught_up():
        count += len(source.poll(0.0))
    return count


def test_an_empty_stream_is_read_at_once() -> None:
    assert opened(filled(0, 0))()


def test_what_arrives_later_is_not_waited_for() -> None:
    source = filled(6, 2)
    caught_up = opened(source)
    assert not caught_up()
    for _ in range(100):
        source.append(b"later", partition=SECOND)
    assert 8 <= read_until(source, caught_up) < 12


def test_a_partition_without_a_leader_is_waited_for() -> None:
    source = filled(3, 3)
    source.leaderless = {SECOND}
    caught_up = opened(source)
    for _ in range(5):
        source.poll(0.0)
        assert not caught_up()
    source.leaderless = set()
    assert read_until(source, caught_up) == 3


def test_in_turns_it_ends_where_the_order_waits_for_a_record() -> None:
    merged = MergedSource(filled(7, 3), 2)
    # Of the second partition there is half of a turn: the first cannot go further.
    assert read_until(merged, opened(merged)) == 7
