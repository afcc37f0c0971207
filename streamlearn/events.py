"""Events of the daemon: metrics, logs, status and the demo observe them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
class Standing:
    """The model in figures and how well it does: after a batch, or as a checkpoint has it.

    Nothing here depends on the time: it stays true while the stream is idle.

    Attributes
    ----------
    sequences_seen : sequences learned since the first start, each counted once.
    progressive : ratios 0-1, as far as known: ``accuracy/LEVEL/WINDOW`` with the levels token and sequence
        and, if the labels mark spans, ``f1/micro/WINDOW``, with the windows lifetime, recent and fading; and
        ``f1/macro/recent``.
    gauges : the learner's own gauges (weights_norm, features_known, …).
    labels : recent scores of the most frequent labels or types of spans.
    other_labels : of all others together; None if there are none.
    confusions : gold label, predicted label and recent count; the most frequent first. None stands for any
        label that is not among the first ones, and for no prediction.
    drift_scores : by signal, how far it is above its earlier mean, in standard errors; NaN while unknown.
    """

    sequences_seen: int = 0
    progressive: Mapping[str, float] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, LabelScore] = field(default_factory=dict)
    confusions: Sequence[tuple[str | None, str | None, int]] = ()
    drift_scores: Mapping[str, float] = field(default_factory=dict)
    other_labels: LabelScore | None = None


@dataclass(frozen=True, slots=True)
class LearningProblem:
    """Learning looks broken for a reason, from now on or no longer."""

    reason: Problem
    message: str
    is_present: bool


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """One batch of N sequences was predicted, scored and learned, in that order.

    Attributes
    ----------
    lengths : int64[N], tokens of each sequence.
    wrong : int64[N], how many of them were predicted wrong, with weights that had not seen the sequence.
    updated : bool[N], whether the sequence changed the weights.
    losses : float64[N], the learner's loss.
    decode_seconds, learn_seconds : wall time from bytes to arrays, and inside the kernels.
    standing : after the batch.
    drifts : concept drifts found in the batch.
    gold, predicted : tokens of the batch by label.
    off_scheme : sequences whose gold labels are not in the scheme that the configuration expects.
    detected_scheme : the scheme of most gold labels so far; None if they do not tell.
    sightings, unknown : features of the batch, and how many of them were new or refused.
    """

    lengths: NDArray[np.int64]
    wrong: NDArray[np.int64]
    updated: NDArray[np.bool_]
    losses: NDArray[np.float64]
    decode_seconds: float
    learn_seconds: float
    standing: Standing
    drifts: Sequence[Drift] = ()
    gold: Mapping[str, int] = field(default_factory=dict)
    predicted: Mapping[str, int] = field(default_factory=dict)
    off_scheme: int = 0
    detected_scheme: FixedScheme | None = None
    sightings: int = 0
    unknown: int = 0

    @property
    def sequences(self) -> int:
        """The number of sequences."""
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.lengths.sum())


@dataclass(frozen=True, slots=True)
class CheckpointDone:
    """A checkpoint was written, or could not be.

    `sequences_seen` is as of the instant that it is a copy of, `copy_seconds` how long learning paused for
    the copy, `write_seconds` how long the background thread wrote; `disk_free_bytes` is None if it is
    unknown, as with an object store.
    """

    outcome: WriteOutcome
    seq: int
    sequences_seen: int
    size_bytes: int
    copy_seconds: float
    write_seconds: float
    disk_free_bytes: int | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A checkpoint was loaded.

    Attributes
    ----------
    seq, size_bytes, created_unix : its number, its size and when it was written.
    standing : as it was saved, so that a resumed daemon shows all of it before the first record arrives.
    corrupt : how many newer checkpoints did not verify.
    reached : how far earlier processes had read each partition: records below it are replayed.
    """

    seq: int
    size_bytes: int
    created_unix: float
    standing: Standing
    corrupt: int = 0
    reached: Mapping[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings that may change while the daemon runs took effect: `every_seconds` between checkpoints."""

    every_seconds: float


@dataclass(frozen=True, slots=True)
class ReloadFailed:
    """A changed configuration was not taken over, because it is invalid; nothing has changed."""

    message: str


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
    | Configured
    | ReloadFailed
)
Observer = Callable[[Event], None]
