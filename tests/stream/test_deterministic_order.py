"""Partitions in turns: an order that depends on offsets alone, whatever comes when."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.data import Position, Record, TopicPartition
from streamlearn.stream.deterministic_order import MergedSource
from tests.stream.memory import MemorySource

PARTITIONS = [TopicPartition("orders", p) for p in range(3)]
Place = tuple[int, int]


def fill(source: MemorySource, offsets: Mapping[int, Sequence[int]]) -> None:
    """Write records at these offsets of each partition; the last may be a gap, too."""
    for number, present in offsets.items():
        tp = PARTITIONS[number]
        for _ in range(max(present, default=-1) + 1):
            source.append(b"v", partition=tp)
        source.logs[tp] = [record for record in source.logs[tp] if record.offset in set(present)]


def in_turns(offsets: Mapping[int, Sequence[int]], quantum: int) -> list[Place]:
    """The definition: by round, partition and offset, up to the first round that may still get records."""
    ends = {p: max(present, default=-1) + 1 for p, present in offsets.items()}
    order = []
    for turn in range(max(ends.values()) // quantum + 1):
        for p in sorted(offsets):
            start = turn * quantum
            order += [(p, offset) for offset in sorted(offsets[p]) if start <= offset < start + quantum]
            if ends[p] < start + quantum:
                return order
    return order


def merged(source: MemorySource, quantum: int, state: Mapping[str, Any] | None = None) -> MergedSource:
    return MergedSource(source, quantum, state, max_records=3)


def opened(source: MergedSource, positions: Mapping[TopicPartition, Position] | None = None) -> MergedSource:
    source.open(source.start_positions() if positions is None else positions)
    return source


def drained(source: MergedSource) -> list[Record]:
    records: list[Record] = []
    idle = 0
    while idle < 12:
        came = source.poll(0.0)
        records += came
        idle = 0 if came else idle + 1
    return records


def places(records: Sequence[Record]) -> list[Place]:
    return [(record.partition, record.offset) for record in records]


def after(records: Sequence[Record]) -> dict[TopicPartition, Position]:
    positions = dict.fromkeys(PARTITIONS, Position(0))
    for record in records:
        positions[TopicPartition(record.topic, record.partition)] = Position(record.offset + 1, record.offset)
    return positions


logs = st.dictionaries(st.sampled_from([0, 1, 2]), st.lists(st.integers(0, 25), unique=True), min_size=1).map(
    lambda found: {p: sorted(found.get(p, [])) for p in range(3)}
)


@settings(deadline=None)
@given(logs, st.integers(1, 6), st.integers(1, 7))
def test_the_order_is_that_of_rounds_however_records_come(
    offsets: dict[int, list[int]], quantum: int, poll: int
) -> None:
    source = MemorySource(PARTITIONS, max_poll_records=poll)
    fill(source, offsets)
    assert places(drained(opened(merged(source, quantum)))) == in_turns(offsets, quantum)


@settings(deadline=None)
@given(logs, st.integers(1, 6), st.data())
def test_a_replay_from_any_place_goes_on_in_the_same_order(
    offsets: dict[int, list[int]], quantum: int, data: st.DataObject
) -> None:
    source = MemorySource(PARTITIONS, max_poll_records=2)
    fill(source, offsets)
    first = opened(merged(source, quantum))
    whole = drained(first)
    cut = data.draw(st.integers(0, len(whole)))
    again = MemorySource(PARTITIONS, max_poll_records=5)
    fill(again, offsets)
    second = opened(merged(again, quantum, first.state()), after(whole[:cut]))
    assert places(drained(second)) == places(whole[cut:])


@settings(deadline=None)
@given(logs, st.integers(1, 6), st.data())
def test_partitions_that_lose_their_leader_for_a_while_change_nothing_in_the_order(
    offsets: dict[int, list[int]], quantum: int, data: st.DataObject
) -> None:
    leaderless = st.sets(st.sampled_from(PARTITIONS))
    source = MemorySource(PARTITIONS, max_poll_records=2)
    fill(source, offsets)
    first = opened(merged(source, quantum))
    before: list[Record] = []
    for _ in range(data.draw(st.integers(0, 10))):
        source.leaderless = data.draw(leaderless)
        before += first.poll(0.0)
    # And at the next start from there, too.
    again = MemorySource(PARTITIONS, max_poll_records=5)
    fill(again, offsets)
    again.leaderless = data.draw(leaderless)
    second = opened(merged(again, quantum, first.state()), after(before))
    rest = drained(second)
    again.leaderless = set()
    assert places(before + rest + drained(second)) == in_turns(offsets, quantum)


def test_turns_are_counted_from_where_each_partition_began() -> None:
    source = MemorySource(PARTITIONS[:2])
    fill(source, {0: range(104), 1: range(4)})
    source.remove_before(PARTITIONS[0], 100)
    order = places(drained(opened(merged(source, 2))))
    assert order == [(0, 100), (0, 101), (1, 0), (1, 1), (0, 102), (0, 103), (1, 2), (1, 3)]


def test_a_partition_that_was_added_joins_the_round_under_way_at_the_next_start() -> None:
    source = MemorySource(PARTITIONS[:2])
    fill(source, {0: range(4), 1: range(4)})
    first = opened(merged(source, 2))
    positions = after(drained(first))
    more = MemorySource(PARTITIONS)
    fill(more, {0: range(6), 1: range(6), 2: range(2)})
    second = opened(merged(more, 2, first.state()), positions)
    assert places(drained(second)) == [(0, 4), (0, 5), (1, 4), (1, 5), (2, 0), (2, 1)]


def test_another_quantum_begins_to_count_anew() -> None:
    source = MemorySource(PARTITIONS[:2])
    fill(source, {0: range(8), 1: range(8)})
    first = opened(merged(source, 3))
    second = opened(merged(source, 2, first.state()), dict.fromkeys(PARTITIONS[:2], Position(4)))
    assert places(drained(second)) == [(0, 4), (0, 5), (1, 4), (1, 5), (0, 6), (0, 7), (1, 6), (1, 7)]


def test_an_empty_partition_holds_the_others_in_bounded_memory_and_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = MemorySource(PARTITIONS[:2], max_poll_records=5)
    fill(source, {0: range(1000), 1: []})
    now = iter(range(0, 1000, 5))
    waiting = MergedSource(source, 10, max_records=3, clock=lambda: float(next(now)))
    opened(waiting)
    assert places(drained(waiting)) == [(0, offset) for offset in range(10)]
    assert waiting.status()[PARTITIONS[0]].lag == 990
    assert source.status()[PARTITIONS[0]].position <= 10 + 2 * 10 + 5
    [said] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert (
        said == "orders[1]@0: deterministic merge (source.order) waits for a record here, so others wait, too"
    )


def test_lag_counts_what_waits_for_its_turn() -> None:
    source = MemorySource(PARTITIONS[:2])
    fill(source, {0: range(10), 1: range(3)})
    waiting = opened(merged(source, 5))
    drained(waiting)
    assert {tp.partition: status.lag for tp, status in waiting.status().items()} == {0: 5, 1: 0}
    assert (waiting.status()[PARTITIONS[0]].position, waiting.connected) == (5, True)
