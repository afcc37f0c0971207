"""From polled records to a batch that can be learned, and to the positions that hold once it is."""

import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from streamlearn.daemon.bad_records import Refused
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
        RecordError : whatever is wrong with it.
        """


@dataclass(frozen=True, slots=True)
class Intake:
    """What one poll brought.

    Attributes
    ----------
    batch : what of it is to be learned, encoded; may be empty.
    positions : of the partitions that brought records, once all of these are dealt with.
    refused : records that cannot be learned from, and why. gaps : to be told.
    duplicates : records that were learned before and are passed over.
    added : what `Duplicates.settle` is to be told once all of these are learned.
    counts, sizes, timestamps : records, bytes and last timestamp by partition.
    seconds : what decoding and encoding took.
    """

    batch: Batch
    positions: Mapping[TopicPartition, Position]
    refused: Sequence[Refused]
    gaps: Sequence[Gap]
    duplicates: int
    added: int
    counts: Mapping[TopicPartition, int]
    sizes: Mapping[TopicPartition, int]
    timestamps: Mapping[TopicPartition, int]
    seconds: float


@dataclass(slots=True)
class _PartitionTally:
    """One partition's part of a poll."""

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
                raise StreamError(
                    f"{record.topic}[{record.partition}]: got offset {offset} again, wanted "
                    f"{expected} or later; it is in the weights already"
                )
            self.missing += offset - expected
            expected = offset + 1
        self.expected = expected
        self.last = records[-1]
        self.records += len(records)
        self.bytes += sum(len(record.value or b"") for record in records)


class BatchReader:
    """Reads polled records; changes nothing but the tagger's label set.

    Parameters
    ----------
    codec : decodes the values.
    tagger : encodes what was decoded.
    duplicates : tells what was learned lately.
    """

    def __init__(self, codec: Codec, tagger: Tagger, duplicates: Duplicates | None = None) -> None:
        self._codec = codec
        self._tagger = tagger
        self._duplicates = duplicates or Duplicates()
        self._passed_over = 0

    def settle(self, intake: Intake) -> None:
        """Note that what was read is learned."""
        self._duplicates.settle(intake.added)

    def read(self, records: Sequence[Record], positions: Mapping[TopicPartition, Position]) -> Intake:
        """Decode and encode one record or more; `positions` is where reading stood before.

        Raises
        ------
        StreamError : a record came that is in the weights already.
        """
        begin = time.perf_counter()
        tallies = _tally(records, positions)
        refused: list[Refused] = []
        self._passed_over = 0
        pieces = [self._encode(records[at : at + PIECE], refused) for at in range(0, len(records), PIECE)]
        return Intake(
            batch=joined(pieces),
            positions={partition: _position(tally) for partition, tally in tallies.items()},
            refused=refused,
            gaps=[Gap(partition, t.missing, lost=False) for partition, t in tallies.items() if t.missing],
            duplicates=self._passed_over,
            added=self._duplicates.added,
            counts={partition: tally.records for partition, tally in tallies.items()},
            sizes={partition: tally.bytes for partition, tally in tallies.items()},
            timestamps={
                partition: tally.last.timestamp for partition, tally in tallies.items() if tally.last
            },
            seconds=time.perf_counter() - begin,
        )

    def _encode(self, records: Sequence[Record], refused_out: list[Refused]) -> Batch:
        examples: list[Example] = []
        decoded: list[Record] = []
        for record in records:
            try:
                examples.append(self._codec.decode_record(record))
                decoded.append(record)
            except RecordError as error:
                refused_out.append((record, _rejection(record, error)))
        marks = self._mark(decoded, examples) if self._duplicates.is_active else []
        encoded = self._tagger.encode(examples)
        rejected = dict(encoded.rejected)
        refused_out += [(decoded[place], _rejection(decoded[place], rejected[place])) for place in rejected]
        for place, mark in enumerate(marks):
            if place not in rejected:
                self._duplicates.add(mark)
        return encoded.batch

    def _mark(self, records: list[Record], examples: list[Example]) -> list[int | None]:
        """Take out what was learned before, also in this very piece; give the marks of the others."""
        seen: set[int | None] = set()
        kept: list[tuple[Record, Example, int | None]] = []
        for record, example in zip(records, examples, strict=True):
            mark = self._duplicates.mark_of(record, example)
            if mark is None or (mark not in self._duplicates and mark not in seen):
                kept.append((record, example, mark))
                seen.add(mark)
        self._passed_over += len(records) - len(kept)
        records[:], examples[:] = [each[0] for each in kept], [each[1] for each in kept]
        return [each[2] for each in kept]


def _tally(
    records: Sequence[Record], positions: Mapping[TopicPartition, Position]
) -> dict[TopicPartition, _PartitionTally]:
    tallies: dict[TopicPartition, _PartitionTally] = {}
    # Records come in long runs of one partition each.
    for place, run in groupby(records, attrgetter("topic", "partition")):
        partition, same = TopicPartition(*place), list(run)
        tally = tallies.get(partition)
        if tally is None:
            before = positions.get(partition)
            tally = tallies[partition] = _PartitionTally(before.next_offset if before else same[0].offset)
        tally.add(same)
    return tallies


def _rejection(record: Record, error: RecordError) -> Rejected:
    return Rejected(record.topic, record.partition, record.offset, error.reason, str(error))


def _position(tally: _PartitionTally) -> Position:
    last = tally.last
    if last is None:
        raise ValueError("a tally begins with a record")
    return Position(last.offset + 1, last.offset, last.timestamp, zlib.crc32(last.value or b""))
