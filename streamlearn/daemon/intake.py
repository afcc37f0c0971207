"""From polled records to a batch that can be learned, and to the positions that hold once it is."""

import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from streamlearn.data import Example, Position, Record, TopicPartition
from streamlearn.errors import RecordError, StreamError
from streamlearn.events import Gap, Rejected
from streamlearn.learners.tagger import Encoded, Tagger


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
    encoded : the batch.
    positions : of the partitions that brought records, once all of these are dealt with.
    rejected, gaps : to be told.
    counts, sizes, timestamps : records, bytes and last timestamp by partition.
    seconds : what decoding and encoding took.
    """

    encoded: Encoded
    positions: Mapping[TopicPartition, Position]
    rejected: Sequence[Rejected]
    gaps: Sequence[Gap]
    counts: Mapping[TopicPartition, int]
    sizes: Mapping[TopicPartition, int]
    timestamps: Mapping[TopicPartition, int]
    seconds: float


@dataclass(slots=True)
class _Tally:
    """One partition's part of a poll."""

    expected: int
    last: Record | None = None
    records: int = 0
    bytes: int = 0
    missing: int = 0

    def add(self, record: Record) -> None:
        if record.offset < self.expected:
            raise StreamError(
                f"{record.topic}[{record.partition}]: got offset {record.offset} again, wanted "
                f"{self.expected} or later; it is in the weights already"
            )
        self.missing += record.offset - self.expected
        self.expected = record.offset + 1
        self.last = record
        self.records += 1
        self.bytes += len(record.value or b"")


@dataclass(slots=True)
class _Decoded:
    examples: list[Example] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


class Reader:
    """Reads polled records; changes nothing but the tagger's label set.

    Parameters
    ----------
    codec : decodes the values.
    tagger : encodes what was decoded.
    """

    def __init__(self, codec: Codec, tagger: Tagger) -> None:
        self._codec = codec
        self._tagger = tagger

    def read(self, records: Sequence[Record], positions: Mapping[TopicPartition, Position]) -> Intake:
        """Decode and encode; `positions` is where reading stood before.

        Raises
        ------
        StreamError : a record came that is in the weights already.
        """
        begin = time.perf_counter()
        tallies: dict[TopicPartition, _Tally] = {}
        decoded = _Decoded()
        for record in records:
            partition = TopicPartition(record.topic, record.partition)
            tally = tallies.get(partition)
            if tally is None:
                before = positions.get(partition)
                tally = tallies[partition] = _Tally(before.next_offset if before else record.offset)
            tally.add(record)
            self._decode(record, decoded)
        encoded = self._tagger.encode(decoded.examples)
        rejected = [_rejection(decoded.records[place], error) for place, error in encoded.rejected]
        return Intake(
            encoded=encoded,
            positions={partition: _position(tally) for partition, tally in tallies.items()},
            rejected=decoded.rejected + rejected,
            gaps=[Gap(partition, t.missing, lost=False) for partition, t in tallies.items() if t.missing],
            counts={partition: tally.records for partition, tally in tallies.items()},
            sizes={partition: tally.bytes for partition, tally in tallies.items()},
            timestamps={
                partition: tally.last.timestamp for partition, tally in tallies.items() if tally.last
            },
            seconds=time.perf_counter() - begin,
        )

    def _decode(self, record: Record, decoded: _Decoded) -> None:
        try:
            decoded.examples.append(self._codec.decode_record(record))
            decoded.records.append(record)
        except RecordError as error:
            decoded.rejected.append(_rejection(record, error))


def _rejection(record: Record, error: RecordError) -> Rejected:
    return Rejected(record.topic, record.partition, record.offset, error.reason, str(error))


def _position(tally: _Tally) -> Position:
    last = tally.last
    if last is None:
        raise ValueError("a tally begins with a record")
    return Position(last.offset + 1, last.offset, last.timestamp, zlib.crc32(last.value or b""))
