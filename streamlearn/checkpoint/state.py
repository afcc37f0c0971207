"""The content of a checkpoint: everything needed to continue exactly where it was written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from streamlearn.checkpoint.codec import FORMAT_VERSION, Header, State
from streamlearn.data import Position, StreamIdentity, TopicPartition
from streamlearn.errors import CheckpointError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Weights and offsets of the same point in the stream.

    Attributes
    ----------
    model_id, run_id : name of the model, and id of the daemon process that wrote it.
    seq : number of the checkpoint; 0 is written before the first record.
    created_unix : seconds since the Unix epoch.
    app_version : release that wrote it.
    config_digest : digest of the configuration that weights depend on (features, labels, learner).
    config : that configuration as plain data without secrets, so that predicting needs no other file.
    identity : cluster and topics that the positions belong to.
    positions : how far each partition has been learned.
    sequences_seen : lifetime total, replays excluded.
    progressive : accumulators of the progressive scores and of drift detection, plain data.
    model : state tree of features and learner, with arrays.
    reading : state of the deterministic order in addition to the positions; empty with order: arrival.
    format_version : of the file that it was read from.
    """

    model_id: str
    run_id: str
    seq: int
    created_unix: float
    app_version: str
    config_digest: str
    config: State
    identity: StreamIdentity
    positions: Mapping[TopicPartition, Position]
    sequences_seen: int
    progressive: State = field(default_factory=dict)
    model: State = field(default_factory=dict)
    reading: State = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    def to_state(self) -> State:
        """Return the tree for the codec to write; arrays are shared, not copied."""
        identity = {"cluster_id": self.identity.cluster_id, "topic_ids": dict(self.identity.topic_ids)}
        return {name: getattr(self, name) for name in _PLAIN_FIELDS} | {
            "identity": identity,
            "reading": self.reading,
            "positions": [_position_to_row(*item) for item in sorted(self.positions.items())],
        }

    @classmethod
    def from_state(cls, state: State, format_version: int = FORMAT_VERSION) -> "Checkpoint":
        """Return the checkpoint for a tree from `to_state`; arrays are shared, not copied.

        Raises
        ------
        CheckpointError : a field is missing or of another type.
        """
        plain = {name: _take(state, name, kind) for name, kind in _PLAIN_FIELDS.items()}
        identity = _take(state, "identity", dict)
        return cls(
            **plain,
            identity=StreamIdentity(_take(identity, "cluster_id", str), _take_topic_ids(identity)),
            # Added after format version 1 was released.
            reading=_take(state, "reading", dict) if "reading" in state else {},
            positions=dict(_row_to_position(row) for row in _take(state, "positions", list)),
            format_version=format_version,
        )

    @classmethod
    def from_header(cls, header: Header) -> "Checkpoint":
        """Return the checkpoint without its arrays: each is replaced by a `Segment`.

        Raises
        ------
        CheckpointError : a field is missing or of another type.
        """
        return cls.from_state(header.state, header.format_version)


_PLAIN_FIELDS: dict[str, type[Any]] = {
    "model_id": str,
    "run_id": str,
    "seq": int,
    "created_unix": float,
    "app_version": str,
    "config_digest": str,
    "config": dict,
    "sequences_seen": int,
    "progressive": dict,
    "model": dict,
}


def _take(tree: State, name: str, kind: type[T]) -> T:
    value = tree.get(name)
    # The exact type: True is an int to isinstance.
    if type(value) is not kind:
        raise CheckpointError(f"field {name} is {type(value).__name__}, wanted {kind.__name__}")
    return value


def _take_topic_ids(identity: State) -> dict[str, str]:
    topic_ids = _take(identity, "topic_ids", dict)
    return {topic: _take(topic_ids, topic, str) for topic in topic_ids}


def _position_to_row(partition: TopicPartition, position: Position) -> list[str | int]:
    return [
        partition.topic,
        partition.partition,
        position.next_offset,
        position.last_offset,
        position.last_timestamp_ms,
        position.last_value_crc32,
    ]


def _row_to_position(row: Any) -> tuple[TopicPartition, Position]:
    kinds = [str, int, int, int, int, int]
    if type(row) is not list or [type(value) for value in row] != kinds:
        shown = " ".join(f"{row!r:.80}".split())
        raise CheckpointError(f"position {shown}, wanted [topic, partition, 4 numbers]")
    return TopicPartition(row[0], row[1]), Position(*row[2:])
