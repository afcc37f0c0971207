from collections.abc import Iterable, Mapping

from streamlearn.data import TopicPartition
from streamlearn.stream.kafka.stalls import StallDetector

ONE, TWO = TopicPartition("orders", 0), TopicPartition("orders", 1)


class World:
    """A clock, ends that move, and what was asked."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ends = {ONE: 10, TWO: 10}
        self.asked: list[TopicPartition] = []
        self.watch = StallDetector(30.0, lambda: self.now)

    def ends_of(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        self.asked += partitions
        return self.ends

    def stalls(self, at: tuple[int, int], seconds: float, polls: int = 20) -> list[TopicPartition]:
        """Poll so often, evenly, while positions stay."""
        found: list[TopicPartition] = []
        for _ in range(polls):
            self.now += seconds / polls
            found = found or self.watch.look(dict(zip((ONE, TWO), at, strict=True)), self.ends_of)
        return found


def test_a_partition_that_is_behind_and_silent_has_stalled() -> None:
    world = World()
    assert world.stalls((5, 10), 25) == []
    assert world.stalls((5, 10), 30) == [ONE]


def test_an_idle_partition_has_not_and_costs_few_questions() -> None:
    world = World()
    assert world.stalls((10, 10), 600, polls=6000) == []
    assert len(world.asked) <= 2 * 600 / 10


def test_one_that_moves_is_not_even_asked_for() -> None:
    world = World()
    for position in range(200):
        world.now += 5
        assert world.watch.look({ONE: position, TWO: position}, world.ends_of) == []
    assert world.asked == []


def test_records_that_have_just_come_are_no_stall() -> None:
    world = World()
    world.stalls((10, 10), 300)
    world.ends[ONE] = 11
    assert world.stalls((10, 10), 25) == []
    assert world.stalls((11, 10), 300) == []


def test_a_loop_that_seldom_polls_is_no_stall_of_a_partition() -> None:
    world = World()
    assert world.stalls((5, 10), 600, polls=6) == []


def test_a_broker_that_was_away_is_none_either() -> None:
    world = World()
    world.stalls((5, 10), 25)
    world.watch.forget()
    assert world.stalls((5, 10), 25) == []


def test_where_the_ends_cannot_be_asked_nothing_is_said() -> None:
    world = World()
    world.ends = {}
    assert world.stalls((5, 10), 600) == []
