"""The values that pass between the parts: records, examples and positions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class TopicPartition(NamedTuple):
    """One partition of one topic; equal to and hashed like kafka-python's own.

    Examples
    --------
    >>> orders = TopicPartition("orders", 3)
    >>> f"{orders}, {orders.at(1841)}"
    'orders[3], orders[3]@1841'
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        """Write it for messages."""
        return f"{self.topic}[{self.partition}]"

    def at(self, offset: int) -> str:
        """Write the place of a record in it for messages."""
        return f"{self}@{offset}"


class Record(Protocol):
    """One message as received from the broker: bytes, not decoded by the client."""

    @property
    def topic(self) -> str:
        """Topic name."""

    @property
    def partition(self) -> int:
        """Partition number."""

    @property
    def offset(self) -> int:
        """Offset in the partition."""

    @property
    def timestamp(self) -> int:
        """Milliseconds since the Unix epoch; -1 if there is none."""

    @property
    def key(self) -> bytes | None:
        """Key bytes."""

    @property
    def value(self) -> bytes | None:
        """Value bytes; None is a tombstone."""

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        """Headers in the order in which they were sent."""


@dataclass(frozen=True, slots=True)
class Example:
    """One sequence, with its labels if they are known.

    Every column, `labels` and `features` have one entry per position, which the codec has checked.

    Attributes
    ----------
    columns : T values of each column, by name; empty if `features` is given.
    labels : T label names; None for a sequence to be predicted.
    features : ready-made features of each position as in python-crfsuite: lists of names (with value 1.0) or
        mappings from name to value.
    id : name that the producer gave the sequence.
    weight : importance of the sequence, finite and > 0.
    record : the parsed record that it comes from, where that is to be written again; else None.
    """

    columns: Mapping[str, list[str]]
    labels: list[str] | None = None
    features: list[list[str]] | list[dict[str, float]] | None = None
    id: str | None = None
    weight: float = 1.0
    record: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        """Return the number of positions T."""
        if self.features is not None:
            return len(self.features)
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True, slots=True)
class Position:
    """How far one partition is in the weights.

    Attributes
    ----------
    next_offset : offset of the first record that is NOT in the weights.
    last_offset : offset of the last record that is; -1 if there is none.
    last_timestamp_ms, last_value_crc32 : timestamp and CRC-32 of the value of that record, by which a topic
        is recognized: another topic may have the same name.
    """

    next_offset: int
    last_offset: int = -1
    last_timestamp_ms: int = -1
    last_value_crc32: int = 0


def format_positions(positions: Mapping[TopicPartition, Position]) -> str:
    """Write where partitions stand, for messages and logs.

    >>> format_positions({TopicPartition("orders", 3): Position(1841)})
    'orders[3]@1841'
    """
    return " ".join(partition.at(position.next_offset) for partition, position in sorted(positions.items()))


@dataclass(frozen=True, slots=True)
class StreamIdentity:
    """The cluster and topic ids of a stream; empty where the broker does not report them."""

    cluster_id: str = ""
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """How far one partition was read.

    Attributes
    ----------
    position : offset of the next record to be polled.
    high_watermark : offset after the last record of the broker; None before the first fetch.
    lag : records between the two, never negative; None while unknown.
    has_leader : False while no broker leads the partition, so that it cannot be read.
    """

    position: int
    high_watermark: int | None
    lag: int | None
    has_leader: bool = True


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the best labellings of a sequence.

    Attributes
    ----------
    labels : T label names.
    score : what the model maximizes; only differences between labellings of the same sequence are meaningful.
    probability : of the labelling, if the learner has probabilities.
    """

    labels: list[str]
    score: float
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for one sequence; what was not requested is None.

    Attributes
    ----------
    labels : T label names, the best labelling.
    marginals : the probability of each of the labels at its position.
    label_marginals : the probability of every label, by name, at each position.
    probability : of the labelling as a whole.
    alternatives : the best labellings, best first; the first has the same `labels`, if the search is exact
        and the learner does not vote.
    """

    labels: list[str]
    marginals: list[float] | None = None
    probability: float | None = None
    alternatives: list[Alternative] | None = None
    label_marginals: list[dict[str, float]] | None = None


class Batch(NamedTuple):
    """N encoded sequences with n positions in total, one after the other, independent of the model.

    Attributes
    ----------
    starts : int64[N + 1], where each sequence begins.
    values : uint64[n, V], the id of each view at each position.
    attributes : uint64[m], ids of ready-made features; those of each position begin at `attribute_starts`,
        int64[n + 1], and have the values `attribute_values`, float64[m], or float64[0] if all are 1.
    labels : int32[n], or int32[0] if the sequences are to be predicted.
    labels_known : int32[N], how many labels were known after reading each sequence.
    importance : float64[N].
    evidence : uint8[N, C], what the gold labels tell about the scheme of the data; see
        `streamlearn.features.scheme_conversion`. uint8[0, C] if the sequences are to be predicted.
    names_known : how many strings had been kept for inspection after encoding the batch.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.uint64]
    attributes: NDArray[np.uint64]
    attribute_starts: NDArray[np.int64]
    attribute_values: NDArray[np.float64]
    labels: NDArray[np.int32]
    labels_known: NDArray[np.int32]
    importance: NDArray[np.float64]
    evidence: NDArray[np.uint8]
    names_known: int


class Rows(NamedTuple):
    """The active rows of the weights at each position of a batch, as the kernels of learners read them.

    Attributes
    ----------
    starts : int64[N + 1], where each sequence begins.
    node_starts, node_rows : int64[n + 1], int32[·], rows that fire with a label; -1 for unknown features.
    node_values : float64[·], their values, or float64[0] if all are 1.
    edge_starts, edge_rows : rows that fire with a pair of labels, with value 1; `edge_rows` is empty if no
        feature of pairs depends on the position.
    edge_singles : how many edge rows of each position, the first ones, also fire with a single label.
    used : rows in use in the node and in the edge table.
    """

    starts: NDArray[np.int64]
    node_starts: NDArray[np.int64]
    node_rows: NDArray[np.int32]
    node_values: NDArray[np.float64]
    edge_starts: NDArray[np.int64]
    edge_rows: NDArray[np.int32]
    edge_singles: int
    used: tuple[int, int]
