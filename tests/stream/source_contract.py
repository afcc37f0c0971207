"""What every `Source` must do; a test module subclasses `SourceContract` and says how to make one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol
from zlib import crc32

import pytest

from streamlearn.data import Position, Record, TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.source import Source
from tests.waiting import until

Sent = tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]


class World(Protocol):
    """A stream with two partitions, and sources that read it."""

    partitions: list[TopicPartition]

    def source(self) -> Source:
        """Return a new source, not opened."""

    def append(self, partition: TopicPartition, records: Sequence[Sent]) -> None:
        """Write (key, value, headers) to the end of a partition."""


def drain(source: Source, count: int) -> list[Record]:
    """Poll until `count` records came; more than that is an error."""
    records: list[Record] = []

    def came() -> bool:
        records.extend(source.poll(0.2))
        return len(records) >= count

    until(came, what=f"{count} records")
    assert len(records) == count
    return records


def positions_after(
    records: Sequence[Record], start: dict[TopicPartition, Position]
) -> dict[TopicPartition, Position]:
    """Return the positions that a loop would keep after `records`."""
    positions = dict(start)
    for r in records:
        canary = crc32(r.value or b"")
        positions[TopicPartition(r.topic, r.partition)] = Position(
            r.offset + 1, r.offset, r.timestamp, canary
        )
    return positions


def values(records: Sequence[Record], partition: TopicPartition) -> list[bytes | None]:
    """Return the values of one partition in the order they came."""
    return [r.value for r in records if (r.topic, r.partition) == partition]


def numbered(count: int, prefix: str = "v") -> list[Sent]:
    """Return records with values prefix0, prefix1, …"""
    return [(b"k", f"{prefix}{i}".encode(), []) for i in range(count)]


@contextmanager
def reading(world: World, positions: dict[TopicPartition, Position] | None = None) -> Iterator[Source]:
    """Open a source at `positions`, by default at its start, and close it."""
    source = world.source()
    source.open(source.start_positions() if positions is None else positions)
    yield source
    source.close()


class SourceContract:
    """The contract; `world` is a fixture of the subclass."""

    def test_records_come_in_order_within_each_partition(self, world: World) -> None:
        for tp in world.partitions:
            world.append(tp, numbered(50, f"p{tp.partition}-"))
        with reading(world) as source:
            records = drain(source, 100)
        for tp in world.partitions:
            assert values(records, tp) == [v for _, v, _ in numbered(50, f"p{tp.partition}-")]

    def test_bytes_tombstones_and_headers_pass_untouched(self, world: World) -> None:
        sent: list[Sent] = [
            (b"\xff\x00", b"\x80\x81", [("content-type", b"x"), ("content-type", b"\xff")]),
            (b"gone", None, []),
            (b"", b"", [("empty", b"")]),
        ]
        world.append(world.partitions[0], sent)
        with reading(world) as source:
            assert [(r.key, r.value, list(r.headers)) for r in drain(source, 3)] == sent

    def test_a_source_resumes_from_positions_without_loss_or_repetition(self, world: World) -> None:
        first, second = world.partitions
        world.append(first, numbered(30, "a"))
        world.append(second, numbered(20, "b"))
        source = world.source()
        start = source.start_positions()
        source.open(start)
        positions = positions_after(drain(source, 50), start)
        source.close()

        world.append(first, numbered(5, "c"))
        source = world.source()
        assert source.open(positions) == {}
        assert [r.value for r in drain(source, 5)] == [b"c0", b"c1", b"c2", b"c3", b"c4"]
        source.close()

    def test_the_lag_is_known_before_anything_is_read(self, world: World) -> None:
        first, second = world.partitions
        world.append(first, numbered(7))
        source = world.source()
        source.open({first: Position(0), second: Position(0)})
        status = source.status()
        # The embedded broker reports ends that are too low.
        assert status[first].lag is not None
        assert status[second].lag == 0
        source.close()

    def test_a_source_resumes_in_the_middle(self, world: World) -> None:
        first = world.partitions[0]
        world.append(first, numbered(30))
        with reading(world) as source:
            seen = drain(source, 30)[:11]
        start = dict.fromkeys(world.partitions, Position(0))
        with reading(world, positions_after(seen, start)) as source:
            assert drain(source, 19)[0].value == b"v11"

    def test_the_start_is_resolved_to_every_partition(self, world: World) -> None:
        world.append(world.partitions[0], numbered(3))
        source = world.source()
        assert source.start_positions() == dict.fromkeys(world.partitions, Position(0))
        source.close()

    def test_a_position_beyond_the_end_is_refused(self, world: World) -> None:
        first = world.partitions[0]
        world.append(first, numbered(3))
        source = world.source()
        start = source.start_positions()
        with pytest.raises(StreamError):
            source.open(start | {first: Position(9, 8, 1, 1)})
        source.close()

    def test_status_covers_every_partition_and_lag_reaches_zero(self, world: World) -> None:
        first, second = world.partitions
        world.append(first, numbered(4))
        source = world.source()
        source.open(source.start_positions())
        drain(source, 4)

        def drained() -> bool:
            source.poll(0.1)
            return [s.lag for s in source.status().values()] == [0, 0]

        until(drained, what="lag 0")
        assert {tp: s.position for tp, s in source.status().items()} == {first: 4, second: 0}
        source.close()

    def test_an_idle_source_is_connected_and_gives_nothing(self, world: World) -> None:
        with reading(world) as source:
            assert len(source.poll(0.05)) == 0
            assert source.connected

    def test_identity_is_the_same_for_every_source_of_a_stream(self, world: World) -> None:
        one, other = world.source(), world.source()
        assert one.identity() == other.identity()
        one.close()
        other.close()

    def test_commit_neither_raises_nor_blocks_and_close_may_be_repeated(self, world: World) -> None:
        source = world.source()
        start = source.start_positions()
        source.open(start)
        source.commit(start)
        source.close()
        source.close()
