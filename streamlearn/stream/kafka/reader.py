"""Reading assigned partitions from given offsets, and recovering from errors."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka import KafkaConsumer, errors
from kafka import TopicPartition as KafkaPartition
from kafka.consumer.fetcher import ConsumerRecord

from streamlearn.choices import OnGap
from streamlearn.data import PartitionStatus, Position, TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.admission import admit
from streamlearn.stream.kafka.client_errors import REFUSALS, converted, reason
from streamlearn.stream.kafka.connection import ConnectionManager
from streamlearn.stream.kafka.known_offsets import has_leader, known_offsets
from streamlearn.stream.kafka.positions import fetch_position, lost_records, native, place

log = logging.getLogger(__name__)

_REQUEST_MS = 1000
_UNREADABLE = 3


@dataclass(slots=True)
class PartitionReader:
    """Polls a consumer, tracks the position of each partition, and restores positions after errors.

    Attributes
    ----------
    consumer, manager : the current client.
    on_gap, on_lost : as in `KafkaSource`.
    renew : recreates the client if it is stuck, and passes it to `change_to` if a broker answers now.
    stopping : ends waits.
    """

    consumer: KafkaConsumer
    manager: ConnectionManager
    on_gap: OnGap
    on_lost: Callable[[TopicPartition, int], None]
    renew: Callable[[], None]
    stopping: Callable[[], bool]
    _next: dict[TopicPartition, int] = field(default_factory=dict, init=False)
    _ends: dict[TopicPartition, int] = field(default_factory=dict, init=False)
    # Not read yet, since no leader has shown that the log is still the same one; None: from the beginning.
    _pending: dict[TopicPartition, Position | None] = field(default_factory=dict, init=False)
    # Partitions that are currently fetched, and those that are to be once they are admitted (None: all).
    _fetched: set[TopicPartition] = field(default_factory=set, init=False)
    _chosen: set[TopicPartition] | None = field(default=None, init=False)
    _failed_at: tuple[TopicPartition, int] | None = field(default=None, init=False)
    _failures: int = field(default=0, init=False)

    @property
    def partitions(self) -> set[TopicPartition]:
        """The partitions that are read, or are waited for."""
        return self._next.keys() | self._pending.keys()

    @property
    def pending(self) -> Collection[TopicPartition]:
        """The partitions that are waited for."""
        return self._pending.keys()

    def expect(self, positions: Mapping[TopicPartition, Position | None]) -> None:
        """Read these partitions, too, from their positions or beginnings, once `admit` finds their leader."""
        self._pending |= positions

    def admit(self, among: Iterable[TopicPartition], timeout_ms: int) -> Mapping[TopicPartition, int]:
        """Start to read those of these expected partitions whose leader answers; return what they have lost.

        Raises
        ------
        StreamError, AuthenticationError : as in `admission.admit`.
        """
        answering = known_offsets(self.consumer, self.manager, among, "earliest", timeout_ms)
        if not answering:
            return {}
        fetched = self._fetched
        self._fetch(())
        pending = {tp: self._pending[tp] for tp in answering}
        found = admit(self.consumer, self.manager, pending, self.on_gap, timeout_ms, self.stopping)
        self._pending = {tp: at for tp, at in self._pending.items() if tp not in found.offsets}
        self._next |= found.offsets
        self._ends |= found.ends
        admitted = found.offsets.keys() if self._chosen is None else found.offsets.keys() & self._chosen
        self._fetch(fetched | admitted)
        return found.lost

    def restrict(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch only from these; the others keep their positions."""
        self._chosen = set(partitions)
        self._fetch(self._chosen & self._next.keys())

    def change_to(self, consumer: KafkaConsumer, manager: ConnectionManager) -> None:
        """Continue with another client, from the same positions."""
        self.consumer, self.manager = consumer, manager
        self._seek({tp: self._next[tp] for tp in self._fetched})

    def positions(self) -> dict[TopicPartition, int]:
        """Return the next offset of each fetched partition, past markers and compacted records."""
        return {tp: fetch_position(self.consumer, tp) or self._next[tp] for tp in self._fetched}

    def _fetch(self, partitions: Iterable[TopicPartition]) -> None:
        # Keeps the progress past offsets without records.
        self._next |= self.positions()
        resumed = set(partitions) - self._fetched
        self._fetched = set(partitions)
        self._seek({tp: self._next[tp] for tp in resumed})

    def _seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.consumer.assign(native(self._fetched))
        for tp, offset in offsets.items():
            # A seek, even to the same offset, discards what was already fetched.
            if fetch_position(self.consumer, tp) != offset:
                self.consumer.seek(KafkaPartition(*tp), offset)

    def ends(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the end offsets of the partitions whose leader answers now."""
        led = [tp for tp in partitions if has_leader(self.manager, tp)]
        ends = known_offsets(self.consumer, self.manager, led, "latest", _REQUEST_MS)
        self._ends |= ends
        return ends

    def poll(self, timeout_ms: int) -> Sequence[list[ConsumerRecord]]:
        """Return the records that arrived, one list per partition.

        Raises
        ------
        StreamError, AuthenticationError : as in `KafkaSource.poll`.
        """
        if not self._fetched:
            time.sleep(timeout_ms / 1000)
            return ()
        try:
            polled = self.consumer.poll(timeout_ms)
        except Exception as error:
            self._recover(error)
            return ()
        for tp, records in polled.items():
            self._next[TopicPartition(*tp)] = records[-1].offset + 1
        return tuple(polled.values())

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        """Return the status of each partition, as of the last fetch."""
        # Where the beginning is of a partition that is waited for, nobody knows.
        waiting = {
            tp: PartitionStatus(at.next_offset if at else 0, None, None, has_leader=False)
            for tp, at in self._pending.items()
        }
        return {tp: self._status(tp, at) for tp, at in self._next.items()} | waiting

    def _status(self, tp: TopicPartition, next_offset: int) -> PartitionStatus:
        position = None
        if tp in self._fetched:
            position = fetch_position(self.consumer, tp)
            end = self.consumer.highwater(KafkaPartition(*tp))
            # None until a fetch brings records, which on an idle partition none does: what was asked stays.
            if end is not None:
                self._ends[tp] = max(end, position or 0)
        position = next_offset if position is None else position
        high_watermark = self._ends.get(tp)
        lag = None if high_watermark is None else max(0, high_watermark - position)
        return PartitionStatus(position, high_watermark, lag)

    def _recover(self, error: Exception) -> None:
        """Recover from an error of a poll, or raise our error for it."""
        if isinstance(error, errors.OffsetOutOfRangeError):
            self._return_into_range([TopicPartition(*tp) for tp in error.args[0]])
        elif isinstance(error, errors.LogTruncationError):
            raise StreamError(f"{self.manager.where}: the log was truncated: {reason(error)}") from error
        elif isinstance(error, REFUSALS):
            raise converted(error, self.manager.where) from error
        elif isinstance(error, errors.RetriableError | errors.UnknownBrokerIdError):
            log.debug("%s: %s", self.manager.where, reason(error))
            time.sleep(0.1)
        else:
            self._retry_unreadable(error)

    def _return_into_range(self, partitions: Iterable[TopicPartition]) -> None:
        beginnings = known_offsets(self.consumer, self.manager, partitions, "earliest", _REQUEST_MS)
        ends = known_offsets(self.consumer, self.manager, beginnings, "latest", _REQUEST_MS)
        for tp, end in ends.items():
            if self._next[tp] > end:
                raise StreamError(
                    f"{place(tp, self._next[tp])}: the log ends at {end}, before the next record: "
                    "it was truncated, or the topic was recreated"
                )
        # For the others the next fetch will be out of range again, and retried.
        positions = {tp: Position(self._next[tp]) for tp in ends}
        for tp, count in lost_records(positions, beginnings, self.on_gap).items():
            self.on_lost(tp, count)
            self._next[tp] = beginnings[tp]
            self._seek({tp: beginnings[tp]} if tp in self._fetched else {})

    def _retry_unreadable(self, error: Exception) -> None:
        """Fetch again what could not be decoded: it may have been damaged in transit."""
        failed_at = self._stuck_at()
        self._failures = self._failures + 1 if failed_at == self._failed_at else 1
        self._failed_at = failed_at
        if self._failures >= _UNREADABLE:
            raise StreamError(
                f"{place(*failed_at)}: the batch of this record cannot be read, tried {self._failures} "
                f"times: {reason(error)}"
            ) from error
        # kafka-python keeps its failed iterator, even after a seek to the same offset, and poll() would spin
        # indefinitely: only a new client helps.
        self.renew()

    def _stuck_at(self) -> tuple[TopicPartition, int]:
        fetched = self.consumer._fetcher._next_partition_records  # type: ignore[attr-defined]
        tp = TopicPartition(*fetched.topic_partition) if fetched else min(self._next)
        return tp, self._next[tp]
