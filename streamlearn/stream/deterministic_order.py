"""Merging partitions in an order that depends on offsets only, so that a replay learns the same weights."""

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from streamlearn.data import PartitionStatus, Position, Record, StreamIdentity, TopicPartition
from streamlearn.stream.source import Source

log = logging.getLogger(__name__)

_LOG_AFTER_SECONDS = 10.0


class MergedSource:
    """A source whose partitions take turns of `quantum` offsets each.

    Round r of a partition that began at offset b holds its records with offsets from b + r·quantum up to, but
    not including, b + (r + 1)·quantum. Every partition delivers round r, in the order of their names, before
    any delivers round r + 1. Arrival times make no difference. The price: a partition without new records
    holds up all others, and the slowest one limits the throughput of all.

    Partitions that are added take part from the next start, in the round that is current then.

    Parameters
    ----------
    source : not yet opened.
    quantum : offsets per turn.
    state : result of `state` from the checkpoint to continue; ignored if its quantum was another one.
    max_records : maximum number of records per poll.
    clock : monotonic seconds.
    """

    def __init__(
        self,
        source: Source,
        quantum: int,
        state: Mapping[str, Any] | None = None,
        max_records: int = 2000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._quantum = quantum
        self._max_records = max_records
        rows = state["bases"] if state and state.get("quantum") == quantum else []
        self._bases: dict[TopicPartition, int] = {
            TopicPartition(topic, partition): base for topic, partition, base in rows
        }
        self._reached: dict[TopicPartition, int] = {}
        self._waiting: dict[TopicPartition, deque[Record]] = {}
        self._fetched: set[TopicPartition] = set()
        self._wait = _Wait(clock)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must store besides the positions; constant until the source is closed."""
        return {"quantum": self._quantum, "bases": [[*tp, base] for tp, base in sorted(self._bases.items())]}

    def identity(self) -> StreamIdentity:
        """Return the cluster and topic ids."""
        return self._source.identity()

    def start_positions(self) -> dict[TopicPartition, Position]:
        """Resolve the configured start to offsets, for every partition."""
        return self._source.start_positions()

    def open(self, positions: Mapping[TopicPartition, Position]) -> dict[TopicPartition, int]:
        """Check that the log still holds `positions`, and seek to them."""
        lost = self._source.open(positions)
        self._reached = {tp: status.position for tp, status in self._source.status().items()}
        self._waiting = {tp: deque() for tp in self._reached}
        self._fetched = set(self._reached)
        known = {tp: self._bases[tp] + lost.get(tp, 0) for tp in self._reached.keys() & self._bases.keys()}
        self._bases = known
        current = min((self._round(tp) for tp in known), default=0)
        self._bases |= {
            tp: at - current * self._quantum for tp, at in self._reached.items() if tp not in known
        }
        return lost

    def poll(self, timeout_seconds: float) -> Sequence[Record]:
        """Wait for records, and return those whose turn it is."""
        ready = self._take()
        for record in self._source.poll(0.0 if ready else timeout_seconds):
            self._waiting[TopicPartition(record.topic, record.partition)].append(record)
        ready = ready or self._take()
        self._choose()
        return ready

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        """Return the status of each partition; records that wait for their turn count as unread."""
        return {tp: self._status(tp, status) for tp, status in self._source.status().items()}

    def has_read_to(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Return whether the partition whose turn it is has no record before its end, so that all wait."""
        tp = self._turn()
        return self.status()[tp].position >= ends[tp]

    @property
    def connected(self) -> bool:
        """Whether a broker answered recently."""
        return self._source.connected

    def restrict(self, partitions: Sequence[TopicPartition]) -> None:
        """Pass the choice on to the source; the next poll chooses again by turns."""
        self._source.restrict(partitions)

    def commit(self, positions: Mapping[TopicPartition, Position]) -> None:
        """Publish the positions for lag monitoring."""
        self._source.commit(positions)

    def close(self) -> None:
        """Close the source; safe to call twice."""
        self._source.close()

    def _take(self) -> list[Record]:
        taken: list[Record] = []
        positions = {tp: status.position for tp, status in self._source.status().items()}
        while len(taken) < self._max_records:
            tp = self._turn()
            end = self._bases[tp] + (self._round(tp) + 1) * self._quantum
            waiting = self._waiting[tp]
            while waiting and waiting[0].offset < end and len(taken) < self._max_records:
                taken.append(waiting.popleft())
                self._reached[tp] = taken[-1].offset + 1
            if waiting and waiting[0].offset < end:
                break
            # The source skips offsets without a record, such as transaction markers.
            if not waiting and positions[tp] < end:
                self._wait.note(tp, self._reached[tp], taken or not any(self._waiting.values()))
                break
            self._reached[tp] = end
        return taken

    def _turn(self) -> TopicPartition:
        return min(self._reached, key=lambda tp: (self._round(tp), tp))

    def _round(self, tp: TopicPartition) -> int:
        return (self._reached[tp] - self._bases[tp]) // self._quantum

    def _choose(self) -> None:
        """Stop fetching partitions that have a full turn buffered, to bound memory."""
        ready = {tp for tp, waiting in self._waiting.items() if len(waiting) >= self._quantum}
        drained = {tp for tp, waiting in self._waiting.items() if 2 * len(waiting) < self._quantum}
        fetched = (self._fetched - ready) | drained or {self._turn()}
        if fetched != self._fetched:
            self._fetched = fetched
            self._source.restrict(sorted(fetched))

    def _status(self, tp: TopicPartition, status: PartitionStatus) -> PartitionStatus:
        waiting = self._waiting[tp]
        if not waiting:
            return status
        position = waiting[0].offset
        end = status.high_watermark
        lag = None if end is None else max(0, end - position)
        return replace(status, position=position, lag=lag)


class _Wait:
    """Logs once when a partition holds up the others, and once when it has records again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since: float | None = None
        self._is_logged = False

    def note(self, tp: TopicPartition, offset: int, is_fine: object) -> None:
        if is_fine:
            if self._is_logged:
                log.info("records again; deterministic merge resumed")
            self._since, self._is_logged = None, False
            return
        now = self._clock()
        self._since = now if self._since is None else self._since
        if not self._is_logged and now - self._since >= _LOG_AFTER_SECONDS:
            self._is_logged = True
            log.warning(
                "%s: deterministic merge (source.order) waits for a record here, so others wait, too",
                tp.at(offset),
            )
