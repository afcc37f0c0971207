"""Reading assigned partitions from given offsets, and recovering from errors."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka import KafkaConsumer, errors
from kafka import TopicPartition as KafkaPartition
from kafka.consumer.fetcher import ConsumerRecord

from streamlearn.choices import OnGap
from streamlearn.data import PartitionStatus, Position, TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.client_errors import REFUSALS, converted, reason
from streamlearn.stream.kafka.positions import fetch_position, lost_records, named, native, place

log = logging.getLogger(__name__)

_REQUEST_MS = 1000
_UNREADABLE = 3


@dataclass(slots=True)
class PartitionReader:
    """Polls a consumer, tracks the position of each partition, and restores positions after errors.

    Attributes
    ----------
    consumer : the current client.
    where : the brokers, for messages.
    on_gap, on_lost : as in `KafkaSource`.
    renewed : recreates the client if it is stuck; returns None if no broker answers at the moment.
    """

    consumer: KafkaConsumer
    where: str
    on_gap: OnGap
    on_lost: Callable[[TopicPartition, int], None]
    renewed: Callable[[], KafkaConsumer | None]
    _next: dict[TopicPartition, int] = field(default_factory=dict, init=False)
    _ends: dict[TopicPartition, int] = field(default_factory=dict, init=False)
    # Partitions that are currently fetched.
    _fetched: set[TopicPartition] = field(default_factory=set, init=False)
    _failed_at: tuple[TopicPartition, int] | None = field(default=None, init=False)
    _failures: int = field(default=0, init=False)

    @property
    def partitions(self) -> Iterable[TopicPartition]:
        """The partitions that are read."""
        return self._next.keys()

    def go_to(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read these partitions as well, from these offsets."""
        self._next |= offsets
        self._fetched |= offsets.keys()
        self._seek(offsets)

    def restrict(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch only from these; the others keep their positions."""
        # Keeps the progress past offsets without records.
        self._next |= self.positions()
        resumed = set(partitions) - self._fetched
        self._fetched = set(partitions)
        self._seek({tp: self._next[tp] for tp in resumed})

    def change_to(self, consumer: KafkaConsumer) -> None:
        """Continue with another client, from the same positions."""
        self.consumer = consumer
        self._seek({tp: self._next[tp] for tp in self._fetched})

    def positions(self) -> dict[TopicPartition, int]:
        """Return the next offset of each fetched partition, past markers and compacted records."""
        return {tp: fetch_position(self.consumer, tp) or self._next[tp] for tp in self._fetched}

    def _seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.consumer.assign(native(self._fetched))
        for tp, offset in offsets.items():
            # A seek, even to the same offset, discards what was already fetched.
            if fetch_position(self.consumer, tp) != offset:
                self.consumer.seek(KafkaPartition(*tp), offset)

    def ends(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the end offsets of some partitions; empty if the broker does not answer now."""
        try:
            ends = named(self.consumer.end_offsets(native(partitions), _REQUEST_MS))
        except (errors.KafkaError, KeyError):
            # kafka-python 3.0 leaves partitions without a leader out of its answers, then looks them up.
            return {}
        self._ends |= ends
        return ends

    def add(self, partitions: Iterable[TopicPartition]) -> None:
        """Read new partitions from their beginning; does nothing if the broker does not answer now."""
        try:
            beginnings = named(self.consumer.beginning_offsets(native(partitions), _REQUEST_MS))
        except (errors.RetriableError, KeyError):
            return
        log.info("new partitions: %s", ", ".join(place(tp, at) for tp, at in sorted(beginnings.items())))
        self.go_to(beginnings)

    def poll(self, timeout_ms: int) -> Sequence[list[ConsumerRecord]]:
        """Return the records that arrived, one list per partition.

        Raises
        ------
        StreamError, AuthenticationError : as in `KafkaSource.poll`.
        """
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
        return {tp: self._status(tp, at) for tp, at in self._next.items()}

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
            raise StreamError(f"{self.where}: the log was truncated: {reason(error)}") from error
        elif isinstance(error, REFUSALS):
            raise converted(error, self.where) from error
        elif isinstance(error, errors.RetriableError):
            log.debug("%s: %s", self.where, reason(error))
            time.sleep(0.1)
        else:
            self._retry_unreadable(error)

    def _return_into_range(self, partitions: Sequence[TopicPartition]) -> None:
        try:
            beginnings = named(self.consumer.beginning_offsets(native(partitions), _REQUEST_MS))
            ends = named(self.consumer.end_offsets(native(partitions), _REQUEST_MS))
        except (errors.RetriableError, KeyError):
            # The next fetch will be out of range again, and retried.
            return
        for tp in partitions:
            if self._next[tp] > ends[tp]:
                raise StreamError(
                    f"{place(tp, self._next[tp])}: the log ends at {ends[tp]}, before the next record: "
                    "it was truncated, or the topic was recreated"
                )
        positions = {tp: Position(self._next[tp]) for tp in partitions}
        for tp, count in lost_records(positions, beginnings, self.on_gap).items():
            self.on_lost(tp, count)
            self.go_to({tp: beginnings[tp]})

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
        consumer = self.renewed()
        if consumer is not None:
            self.change_to(consumer)

    def _stuck_at(self) -> tuple[TopicPartition, int]:
        fetched = self.consumer._fetcher._next_partition_records  # type: ignore[attr-defined]
        tp = TopicPartition(*fetched.topic_partition) if fetched else min(self._next)
        return tp, self._next[tp]
