"""What the loop tells to whoever watches: metrics, logs and the demo's view are observers of these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.errors import Reason

State = Literal["starting", "running", "stopping", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The daemon entered a state."""

    state: State


@dataclass(frozen=True, slots=True)
class Polled:
    """The source was asked once. `records` and `bytes` count what came, by partition."""

    records: Mapping[TopicPartition, int]
    bytes: Mapping[TopicPartition, int]
    last_timestamp_ms: Mapping[TopicPartition, int]
    partitions: Mapping[TopicPartition, PartitionStatus]
    connected: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record could not be learned from."""

    topic: str
    partition: int
    offset: int
    reason: Reason
    message: str

    @property
    def place(self) -> str:
        """Where it is: ``orders[3]@1841``."""
        return TopicPartition(self.topic, self.partition).at(self.offset)


@dataclass(frozen=True, slots=True)
class DeadLettered:
    """Bad records are durable elsewhere: in the dead letter topic, or in the local file."""

    outcome: Literal["delivered", "spooled"]
    count: int


@dataclass(frozen=True, slots=True)
class ConsumerRestarted:
    """The client was made anew: a partition was silent, or a batch could not be decoded."""

    reason: Literal["stalled", "unreadable"]


@dataclass(frozen=True, slots=True)
class Duplicated:
    """Records were passed over, because their like was learned lately."""

    count: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets that hold no record for us: `lost` to retention, or legally absent (compaction, markers)."""

    partition: TopicPartition
    count: int
    lost: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """The world changed: a detector saw a signal rise.

    Attributes
    ----------
    sequence : how many sequences had been learned, at the end of the quantum that showed it.
    signal, detector : which of them.
    before, after : mean of the signal in the detector's memory and in the last quanta, ratios a token.
    actions : what was done about it.
    """

    sequence: int
    signal: str
    detector: str
    before: float
    after: float
    actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelScore:
    """How well a label, or a type of span, was predicted of late: ratios 0-1, and how many gold ones."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True)
class Learned:
    """One batch was predicted, scored and learned, in that order.

    Attributes
    ----------
    sequences, tokens : how many this batch had.
    sequence_mistakes, token_mistakes : how many of them the model's own prediction got wrong, each made
        with weights that had not seen the sequence.
    updates : sequences that changed the weights.
    loss : sum of the learner's loss over the batch.
    lengths : tokens of each sequence.
    decode_seconds, learn_seconds : wall time from bytes to arrays, and inside the kernels.
    progressive : ratios 0-1 as of the end of the batch; ``accuracy/LEVEL/WINDOW`` with the levels token and
        sequence, and ``f1/micro/WINDOW`` where the labels mark spans; windows lifetime, recent and fading.
    gauges : the learner's own gauges (weights_norm, features_known, …).
    sequences_seen : lifetime total, replays excluded.
    labels : scores of the most frequent labels or types of spans of late, and of all others together.
    confusions : gold and predicted label, and how often of late; the most frequent first.
    drifts : changes of the world that the batch showed.
    drift_scores : by signal, how far it is above what it was, in standard errors; NaN while unknown.
    """

    sequences: int
    tokens: int
    sequence_mistakes: int
    token_mistakes: int
    updates: int
    loss: float
    lengths: list[int]
    decode_seconds: float
    learn_seconds: float
    progressive: Mapping[str, float]
    gauges: Mapping[str, float]
    sequences_seen: int
    labels: Mapping[str, LabelScore] = field(default_factory=dict)
    confusions: Sequence[tuple[str, str, int]] = ()
    drifts: Sequence[Drift] = ()
    drift_scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckpointDone:
    """A checkpoint was written, or was not.

    `copy_seconds` is how long learning paused for the copy; `write_seconds` what the background thread took;
    `disk_free_bytes` is None where nobody knows, as with an object store.
    """

    outcome: Literal["written", "failed"]
    seq: int
    size_bytes: int
    copy_seconds: float
    write_seconds: float
    disk_free_bytes: int | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The state was loaded; `corrupt` counts the newer checkpoints that did not verify.

    `created_unix` is when the loaded checkpoint was written; `progressive` and `gauges` are as in `Learned`,
    so that a resumed daemon shows what it knows before the first record comes. `reached` is how far an
    earlier process had read each partition: what is read again below it is replayed.
    """

    seq: int
    sequences_seen: int
    corrupt: int
    created_unix: float | None = None
    progressive: Mapping[str, float] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)
    reached: Mapping[TopicPartition, int] = field(default_factory=dict)


Event = (
    StateChanged
    | Polled
    | Rejected
    | DeadLettered
    | ConsumerRestarted
    | Duplicated
    | Gap
    | Learned
    | CheckpointDone
    | Resumed
)
Observer = Callable[[Event], None]
