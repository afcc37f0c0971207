"""From polled records to a batch that can be learned, and the positions after it."""

import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from streamlearn.daemon.bad_records import BadRecord, Tolerance
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.data import Batch, Example, Position, Record, TopicPartition
from streamlearn.errors import RecordError, StreamError
from streamlearn.events import Gap, Rejected
from streamlearn.features.batches import PIECE, joined
from streamlearn.learners.tagger import Tagger


class Codec(Protocol):
    """Turns a record into an example."""

    def decode_record(self, record: Record) -> Example:
        """Decode and validate.

        Raises
        ------
        RecordError : the record cannot be learned from.
        """


@dataclass(frozen=True, slots=True)
class Intake:
    """What one poll brought.

    Attributes
    ----------
    batch : the encoded sequences to be learned; may be empty.
    positions : of the partitions that brought records, after all of these.
    rejected : records that cannot be learned from, and why.
    gaps : offsets without a record.
    duplicates : how many records were learned before and are skipped.
    added : the argument of `Duplicates.settle` once all of these are learned.
    counts, sizes, timestamps : records, bytes and last timestamp by partition.
    seconds : duration of decoding and encoding.
    """

    batch: Batch
    positions: Mapping[TopicPartition, Position]
    rejected: Sequence[BadRecord]
    gaps: Sequence[Gap]
    duplicates: int
    added: int
    counts: Mapping[TopicPartition, int]
    sizes: Mapping[TopicPartition, int]
    timestamps: Mapping[TopicPartition, int]
    seconds: float


@dataclass(slots=True)
class _PartitionRecords:
    """What one poll brought of one partition."""

    expected: int
    last: Record | None = None
    records: int = 0
    bytes: int = 0
    missing: int = 0

    def add(self, records: Sequence[Record]) -> None:
        expected = self.expected
        for record in records:
            offset = record.offset
            if offset < expected:
                partition = TopicPartition(record.topic, record.partition)
                raise StreamError(
                    f"{partition}: got offset {offset} again, wanted {expected} or later; it was already "
                    "learned"
                )
            self.missing += offset - expected
            expected = offset + 1
        self.expected = expected
        self.last = records[-1]
        self.records += len(records)
        self.bytes += sum(len(record.value or b"") for record in records)


class BatchReader:
    """Decodes, deduplicates and encodes polled records.

    Parameters
    ----------
    codec : decodes the values.
    tagger : encodes what was decoded; reading changes its label set and nothing else.
    duplicates : recognizes records that were learned recently.
    tolerance : limits the share of bad records.
    """

    def __init__(self, codec: Codec, tagger: Tagger, duplicates: Duplicates, tolerance: Tolerance) -> None:
        self._codec = codec
        self._tagger = tagger
        self._duplicates = duplicates
        self._tolerance = tolerance
        self._skipped = 0

    def settle(self, intake: Intake) -> None:
        """Note that what was read is learned."""
        self._duplicates.settle(intake.added)
        self._tolerance.settle()

    def read(self, records: Sequence[Record], positions: Mapping[TopicPartition, Position]) -> Intake:
        """Read one record or more, the first of which follow `positions`.

        Raises
        ------
        StreamError : a record was learned already, or too many are bad.
        """
        begin = time.perf_counter()
        partitions = _by_partition(records, positions)
        rejected: list[BadRecord] = []
        self._skipped = 0
        pieces = [self._encode(records[at : at + PIECE], rejected) for at in range(0, len(records), PIECE)]
        intake = Intake(
            batch=joined(pieces),
            positions={tp: _position_after(part) for tp, part in partitions.items()},
            rejected=rejected,
            gaps=[Gap(tp, part.missing, lost=False) for tp, part in partitions.items() if part.missing],
            duplicates=self._skipped,
            added=self._duplicates.added,
            counts={tp: part.records for tp, part in partitions.items()},
            sizes={tp: part.bytes for tp, part in partitions.items()},
            timestamps={tp: part.last.timestamp for tp, part in partitions.items() if part.last},
            seconds=time.perf_counter() - begin,
        )
        self._tolerance.admit(records, rejected)
        return intake

    def _encode(self, records: Sequence[Record], rejected_out: list[BadRecord]) -> Batch:
        examples: list[Example] = []
        decoded: list[Record] = []
        for record in records:
            try:
                examples.append(self._codec.decode_record(record))
                decoded.append(record)
            except RecordError as error:
                rejected_out.append((record, _rejection(record, error)))
        marks = self._mark(decoded, examples) if self._duplicates.is_active else []
        encoded = self._tagger.encode(examples)
        rejected = dict(encoded.rejected)
        rejected_out += [(decoded[place], _rejection(decoded[place], rejected[place])) for place in rejected]
        for place, mark in enumerate(marks):
            if place not in rejected:
                self._duplicates.add(mark)
        return encoded.batch

    def _mark(self, records: list[Record], examples: list[Example]) -> list[int | None]:
        """Take out what was learned before, here too; return the fingerprints of the others."""
        seen: set[int | None] = set()
        kept: list[tuple[Record, Example, int | None]] = []
        for record, example in zip(records, examples, strict=True):
            mark = self._duplicates.mark_of(record, example)
            if mark is None or (mark not in self._duplicates and mark not in seen):
                kept.append((record, example, mark))
                seen.add(mark)
        self._skipped += len(records) - len(kept)
        records[:], examples[:] = [each[0] for each in kept], [each[1] for each in kept]
        return [each[2] for each in kept]


def _by_partition(
    records: Sequence[Record], positions: Mapping[TopicPartition, Position]
) -> dict[TopicPartition, _PartitionRecords]:
    found: dict[TopicPartition, _PartitionRecords] = {}
    # Records come in long runs of one partition each.
    for place, run in groupby(records, attrgetter("topic", "partition")):
        partition, same = TopicPartition(*place), list(run)
        if partition not in found:
            before = positions.get(partition)
            found[partition] = _PartitionRecords(before.next_offset if before else same[0].offset)
        found[partition].add(same)
    return found


def _rejection(record: Record, error: RecordError) -> Rejected:
    return Rejected(record.topic, record.partition, record.offset, error.reason, str(error))


def _position_after(part: _PartitionRecords) -> Position:
    last = part.last
    assert last is not None  # noqa: S101 - a partition without records is not in the poll
    return Position(last.offset + 1, last.offset, last.timestamp, zlib.crc32(last.value or b""))
