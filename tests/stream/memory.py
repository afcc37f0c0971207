"""A source that is a list: for tests of what reads from sources."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from streamlearn.data import PartitionStatus, Position, Record, StreamIdentity, TopicPartition
from streamlearn.errors import StreamError


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A record that a test wrote."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]] = field(default_factory=list)


class MemorySource:
    """A `Source` over lists, deterministic: a poll takes up to `max_poll_records` in partition order.

    Attributes
    ----------
    logs : the records of each partition; a test may put any records there, with gaps between offsets.
    connected : settable; while False, polls are empty.
    leaderless : settable; partitions that are not read at present.
    committed : the positions published last.
    polls : how often the source was polled.
    closed : how often it was closed.
    """

    def __init__(
        self,
        partitions: Iterable[TopicPartition] = (TopicPartition("orders", 0),),
        *,
        max_poll_records: int = 100,
        on_gap: str = "fail",
        identity: StreamIdentity | None = None,
    ) -> None:
        self.logs: dict[TopicPartition, list[MemoryRecord]] = {tp: [] for tp in sorted(partitions)}
        self.connected = True
        self.leaderless: set[TopicPartition] = set()
        self.committed: dict[TopicPartition, Position] = {}
        self.polls = 0
        self.closed = 0
        self._identity = identity or StreamIdentity("memory", {tp.topic: "1" for tp in self.logs})
        self._max_poll_records = max_poll_records
        self._on_gap = on_gap
        self._beginnings = dict.fromkeys(self.logs, 0)
        self._next: dict[TopicPartition, int] = {}
        self._fetched: set[TopicPartition] | None = None

    def append(
        self,
        value: bytes | None,
        *,
        partition: TopicPartition | None = None,
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
        timestamp: int | None = None,
    ) -> MemoryRecord:
        """Write a record to the end of a partition, the first unless one is named."""
        tp = partition or next(iter(self.logs))
        offset = self._end(tp)
        at = offset if timestamp is None else timestamp
        record = MemoryRecord(tp.topic, tp.partition, offset, at, key, value, list(headers))
        self.logs.setdefault(tp, []).append(record)
        return record

    def remove_before(self, tp: TopicPartition, offset: int) -> None:
        """Forget the records before an offset, as retention does."""
        self._beginnings[tp] = offset
        self.logs[tp] = [record for record in self.logs[tp] if record.offset >= offset]

    def identity(self) -> StreamIdentity:
        return self._identity

    def start_positions(self) -> dict[TopicPartition, Position]:
        return {tp: Position(self._beginnings[tp]) for tp in self.logs}

    def open(self, positions: Mapping[TopicPartition, Position]) -> dict[TopicPartition, int]:
        lost = {}
        for tp, beginning in self._beginnings.items():
            wanted = positions[tp].next_offset if tp in positions else beginning
            if wanted > self._end(tp):
                raise StreamError(f"{tp}: ends at {self._end(tp)}, wanted {wanted}")
            if wanted < beginning:
                lost[tp] = beginning - wanted
            self._next[tp] = max(wanted, beginning)
        if lost and self._on_gap == "fail":
            raise StreamError(f"lost: {lost}")
        return lost

    def poll(self, timeout_seconds: float) -> Sequence[Record]:  # noqa: ARG002
        self.polls += 1
        taken: list[MemoryRecord] = []
        for tp, log in self.logs.items() if self.connected else ():
            if tp in self.leaderless or (self._fetched is not None and tp not in self._fetched):
                continue
            room = self._max_poll_records - len(taken)
            records = [r for r in log if r.offset >= self._next.setdefault(tp, 0)][:room]
            if records:
                self._next[tp] = records[-1].offset + 1
                taken += records
        return taken

    def restrict(self, partitions: Sequence[TopicPartition]) -> None:
        self._fetched = set(partitions)

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        known = {
            tp: PartitionStatus(at, self._end(tp), max(0, self._end(tp) - at))
            for tp, at in self._next.items()
        }
        absent = {
            tp: PartitionStatus(self._next[tp], None, None, has_leader=False)
            for tp in self.leaderless & known.keys()
        }
        return known | absent

    def has_read_to(self, ends: Mapping[TopicPartition, int]) -> bool:
        return all(self._next[tp] >= end for tp, end in ends.items())

    def commit(self, positions: Mapping[TopicPartition, Position]) -> None:
        self.committed = dict(positions)

    def close(self) -> None:
        self.closed += 1

    def _end(self, tp: TopicPartition) -> int:
        log = self.logs.get(tp)
        return log[-1].offset + 1 if log else self._beginnings.get(tp, 0)
