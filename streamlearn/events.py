"""Events of the daemon: metrics, logs, status and the demo observe them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from streamlearn.choices import FixedScheme, LetterOutcome, Problem, RestartReason, WriteOutcome
from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.errors import Reason

State = Literal["starting", "running", "stopping", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The daemon entered a state."""

    state: State


@dataclass(frozen=True, slots=True)
class Polled:
    """The source was polled once; `records` and `bytes` count what arrived, by partition."""

    records: Mapping[TopicPartition, int]
    bytes: Mapping[TopicPartition, int]
    last_timestamp_ms: Mapping[TopicPartition, int]
    partitions: Mapping[TopicPartition, PartitionStatus]
    connected: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record cannot be learned from."""

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
    """Rejected records are durable in the dead letter topic (delivered) or in the local file (spooled)."""

    outcome: LetterOutcome
    count: int


@dataclass(frozen=True, slots=True)
class ConsumerRestarted:
    """The Kafka client was recreated: a partition stalled, or a batch could not be decoded."""

    reason: RestartReason


@dataclass(frozen=True, slots=True)
class Duplicated:
    """Records were skipped, because their key or id was learned recently."""

    count: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets without a record: `lost` to retention, or rightly absent (compaction, transaction markers)."""

    partition: TopicPartition
    count: int
    lost: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """A concept drift: a detector found that a signal has risen.

    Attributes
    ----------
    sequence : how many sequences had been learned at the end of the interval in which it was found.
    signal, detector : by name.
    before, after : mean of the signal in the detector's memory and in the last intervals, per token.
    actions : the configured reactions.
    """

    sequence: int
    signal: str
    detector: str
    before: float
    after: float
    actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelScore:
    """How well a label, or a type of span, was predicted recently: ratios 0-1, and the count of gold ones."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True)
class Learned:
    """One batch was predicted, scored and learned, in that order.

    Attributes
    ----------
    sequences, tokens : size of the batch.
    sequence_mistakes, token_mistakes : how many of them were predicted wrong, with weights that had not seen
        the sequence.
    updates : sequences that changed the weights.
    loss : sum of the learner's loss over the batch.
    lengths : tokens of each sequence.
    decode_seconds, learn_seconds : wall time from bytes to arrays, and inside the kernels.
    progressive : ratios 0-1 as of the end of the batch: ``accuracy/LEVEL/WINDOW`` with the levels token and
        sequence and, if the labels mark spans, ``f1/micro/WINDOW``, with the windows lifetime, recent, fading
        and hour; and ``f1/macro/recent``.
    gauges : the learner's own gauges (weights_norm, features_known, …).
    sequences_seen : sequences learned since the first start, each counted once.
    labels : recent scores of the most frequent labels or types of spans.
    confusions : gold label, predicted label and recent count; the most frequent first. None stands for any
        label that is not among the first ones, and for no prediction.
    drifts : concept drifts found in the batch.
    drift_scores : by signal, how far it is above its earlier mean, in standard errors; NaN while unknown.
    other_labels : recent scores of all labels that are not in `labels`, together.
    gold, predicted : tokens of the batch by label.
    off_scheme : sequences whose gold labels are not in the scheme that the configuration expects.
    detected_scheme : the scheme of most gold labels so far; None if they do not tell.
    sightings, unknown : features of the batch, and how many of them were new or refused.
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
    confusions: Sequence[tuple[str | None, str | None, int]] = ()
    drifts: Sequence[Drift] = ()
    drift_scores: Mapping[str, float] = field(default_factory=dict)
    other_labels: LabelScore | None = None
    gold: Mapping[str, int] = field(default_factory=dict)
    predicted: Mapping[str, int] = field(default_factory=dict)
    off_scheme: int = 0
    detected_scheme: FixedScheme | None = None
    sightings: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class LearningProblem:
    """Learning looks broken for a reason, from now on or no longer."""

    reason: Problem
    message: str
    is_present: bool


@dataclass(frozen=True, slots=True)
class CheckpointDone:
    """A checkpoint was written, or could not be.

    `copy_seconds` is how long learning paused for the copy, `write_seconds` how long the background thread
    wrote; `disk_free_bytes` is None if it is unknown, as with an object store.
    """

    outcome: WriteOutcome
    seq: int
    size_bytes: int
    copy_seconds: float
    write_seconds: float
    disk_free_bytes: int | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A state was loaded; `corrupt` counts newer checkpoints that did not verify.

    `created_unix` is when the loaded checkpoint was written; `progressive` and `gauges` are as in `Learned`,
    so that a resumed daemon shows its scores before the first record arrives. `reached` is how far earlier
    processes had read each partition: records below it are replayed.
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
    | LearningProblem
    | CheckpointDone
    | Resumed
)
Observer = Callable[[Event], None]
