"""Every metric, in one list: name, type, labels, and the help text that Prometheus shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, get_args

from streamlearn.choices import DetectorKind, Signal
from streamlearn.errors import Reason
from streamlearn.events import State

PREFIX = "streamlearn_"

Kind = Literal["counter", "gauge", "histogram", "info"]
Labels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Spec:
    """One metric.

    Attributes
    ----------
    name : without the prefix; counters end in ``_total``, infos in ``_info``.
    kind : counters start at 0, and gauges at NaN: not known yet.
    labels : label name to all its values; no values means that they come with the stream.
    buckets : upper bounds of a histogram, +Inf left out.
    """

    name: str
    kind: Kind
    help: str
    labels: Labels = field(default_factory=dict)
    buckets: tuple[float, ...] = ()


PARTITION: Labels = {"topic": (), "partition": ()}
QUANTILES = ("0.1", "0.5", "0.9")
WINDOWS = ("lifetime", "recent", "fading", "hour")
DETECTORS: tuple[str, ...] = get_args(DetectorKind)
SIGNALS: tuple[str, ...] = get_args(Signal)
STATES: tuple[str, ...] = get_args(State)

CONSUMER = (
    Spec("consumer_records_total", "counter", "Records polled.", {"topic": ()}),
    Spec("consumer_bytes_total", "counter", "Bytes of the values polled.", {"topic": ()}),
    Spec("consumer_position_offset", "gauge", "Offset of the next record to be polled.", PARTITION),
    Spec(
        "consumer_high_watermark_offset",
        "gauge",
        "Offset after the last record that the broker holds, as of the last fetch.",
        PARTITION,
    ),
    Spec(
        "consumer_lag_records",
        "gauge",
        "Records that the broker holds and that were not polled; never negative, NaN before the first fetch.",
        PARTITION,
    ),
    Spec(
        "consumer_last_record_timestamp_seconds",
        "gauge",
        "Timestamp of the last record polled, by the clock of its producer or broker (Unix time).",
        PARTITION,
    ),
    Spec(
        "consumer_future_timestamps_total",
        "counter",
        "Polls of a partition whose last record is stamped more than a minute later than this clock.",
    ),
    Spec(
        "consumer_last_poll_timestamp_seconds",
        "gauge",
        "When the source was last asked for records, with or without an answer (Unix time).",
    ),
    Spec("consumer_connected", "gauge", "1 while a broker answers, else 0."),
    Spec(
        "consumer_restarts_total",
        "counter",
        "Clients made anew because a partition with records was silent, or a batch could not be decoded.",
        {"reason": ("stalled", "unreadable")},
    ),
    Spec(
        "consumer_records_lost_total",
        "counter",
        "Records that the broker removed before they were read; they are in no weights.",
    ),
    Spec(
        "replayed_records_total",
        "counter",
        "Records that an earlier process had read beyond the checkpoint that is continued, read again; only "
        "with a state directory.",
    ),
    Spec(
        "consumer_offset_gaps_total",
        "counter",
        "Jumps over offsets that hold no record, as compaction and transactions leave them; harmless.",
    ),
)

INPUT = (
    Spec(
        "records_rejected_total",
        "counter",
        "Records that could not be learned from, by reason; learning goes on without them.",
        {"reason": tuple(Reason)},
    ),
    Spec(
        "dead_letters_total",
        "counter",
        "Bad records delivered to the dead letter topic, and spooled to the local file.",
        {"outcome": ("delivered", "spooled")},
    ),
    Spec(
        "sequence_length_tokens",
        "histogram",
        "Tokens of each sequence learned.",
        buckets=(10, 40, 160),
    ),
)

LEARNING = (
    Spec("sequences_total", "counter", "Sequences learned since the process started, replays included."),
    Spec("tokens_total", "counter", "Tokens of the sequences learned since the process started."),
    Spec(
        "sequences_seen",
        "gauge",
        "Sequences in the weights since the first start, checkpoints included and replays excluded.",
    ),
    Spec("updates_total", "counter", "Sequences that changed the weights."),
    Spec(
        "mistakes_total",
        "counter",
        "Sequences with any wrong label, and wrong labels, as predicted before each sequence was learned.",
        {"level": ("sequence", "token")},
    ),
    Spec("loss_total", "counter", "Sum of the learner's loss over the sequences, before each was learned."),
    Spec(
        "learn_duration_seconds",
        "histogram",
        "Time to predict, score and learn one polled batch.",
        buckets=(0.01, 0.1, 1.0),
    ),
    Spec(
        "decode_duration_seconds",
        "histogram",
        "Time to turn the bytes of one polled batch into arrays.",
        buckets=(0.01, 0.1, 1.0),
    ),
    Spec(
        "progressive_accuracy_ratio",
        "gauge",
        "Share of tokens, and of whole sequences, that were predicted right before they were learned; over "
        "the lifetime, the recent sequences (1000 by default), fading with age, or the last hour.",
        {"window": WINDOWS, "level": ("sequence", "token")},
    ),
    Spec(
        "progressive_f1_ratio",
        "gauge",
        "F1 of the spans (as conlleval counts them) that were predicted before each sequence was learned; "
        "windows as for accuracy. NaN where the labels do not mark spans.",
        {"window": WINDOWS, "average": ("micro",)},
    ),
    Spec(
        "progressive_macro_f1_ratio",
        "gauge",
        "Mean F1 over all types of spans, or over all labels, over the last one to two thousand sequences.",
    ),
    Spec(
        "label_f1_ratio",
        "gauge",
        "F1 of the eight most frequent labels or types of spans and of all others together, over the last "
        "one to two thousand sequences.",
        {"label": ()},
    ),
    Spec(
        "drift_detected_total",
        "counter",
        "Changes of the world: rises of a signal that a detector saw.",
        {"detector": DETECTORS, "signal": SIGNALS},
    ),
    Spec(
        "drift_score",
        "gauge",
        "By how many standard errors a signal is above what it was; NaN while not known or not watched.",
        {"signal": SIGNALS},
    ),
)

LEARNER = (
    Spec("features_known", "gauge", "Features that have a row of weights."),
    Spec(
        "features_refused_total",
        "counter",
        "Sightings of new features that found the feature table full; they were left out.",
    ),
    Spec("labels_known", "gauge", "Labels discovered; they never shrink."),
    Spec(
        "weights_norm",
        "gauge",
        "Euclidean norm of the weights that predictions are made with, as of the last stretch of learning; "
        "+Inf where one is not finite.",
    ),
    Spec(
        "update_norm",
        "gauge",
        "Euclidean norm of the change of these weights over the last stretch of learning.",
    ),
    Spec(
        "weight_delta_ratio",
        "gauge",
        "The same change relative to the norm of the weights; it falls while learning converges.",
    ),
    Spec("weight_delta_sequences", "gauge", "Sequences in that stretch; doubled while comparing costs time."),
    Spec(
        "last_weights_norm",
        "gauge",
        "Euclidean norm of the newest weights, before any average; perceptrons, PA, AROW and SWVP only.",
    ),
    Spec(
        "margin_limit",
        "gauge",
        "The norm of the newest weights by the number of updates: no weights of norm 1 separate the stream "
        "by a larger margin; perceptron only.",
    ),
    Spec(
        "learning_rate",
        "gauge",
        "Quantiles of the rates that features had when last seen; ADF and SGD only.",
        {"quantile": QUANTILES},
    ),
    Spec("frequency_window", "gauge", "Number of ADF's window of feature counts, from 1; ADF and SGD only."),
    Spec(
        "violations_total",
        "counter",
        "Mixed assignments that scored as much as the gold labelling or more, and that did not; SWVP only.",
        {"kind": ("violating", "non_violating")},
    ),
    Spec("swvp_backoffs_total", "counter", "Updates for which SWVP fell back on the perceptron's."),
    Spec(
        "swvp_violating_gamma_total",
        "counter",
        "Weight that SWVP gave to violations, of 1 for each update; the rest went to non-violations.",
    ),
)

CHECKPOINTS = (
    Spec(
        "checkpoints_total",
        "counter",
        "Checkpoints written, those that failed, and those found corrupt at the start.",
        {"outcome": ("written", "failed", "corrupt")},
    ),
    Spec(
        "checkpoint_duration_seconds",
        "histogram",
        "Time that learning paused for the copy, and that the background write took until it was durable.",
        {"phase": ("copy", "write")},
        buckets=(1.0, 10.0),
    ),
    Spec("checkpoint_size_bytes", "gauge", "Size of the last checkpoint written."),
    Spec(
        "last_checkpoint_timestamp_seconds",
        "gauge",
        "When the last good checkpoint was written, by this process or before it (Unix time).",
    ),
    Spec(
        "checkpoint_disk_free_bytes",
        "gauge",
        "Free space where the checkpoints are, at the last one; NaN where nobody knows, as with S3.",
    ),
)

PROCESS = (
    Spec("build_info", "info", "Version of streamlearn.", {"version": ()}),
    Spec(
        "config_info",
        "info",
        "The model, its learner, and the digest of the settings that its state depends on.",
        {"model": (), "learner": (), "digest": ()},
    ),
    Spec("state", "gauge", "1 for the state that the daemon is in, 0 for all others.", {"state": STATES}),
)

METRICS = (*CONSUMER, *INPUT, *LEARNING, *LEARNER, *CHECKPOINTS, *PROCESS)

LEARNER_GAUGES = {
    "/".join((spec.name.removesuffix("_total"), *values)): (spec.name, *values)
    for spec in LEARNER
    for values in product(*spec.labels.values())
}
"""Names in `events.Learned.gauges`, and the metric and label values that show each.

What a learner's `gauges` calls ``learning_rate/0.5`` is the first label value of the metric of that name;
what it gives for a counter is the total since the first start.
"""

PROGRESSIVE_SCORES = {
    **{
        f"accuracy/{level}/{window}": ("progressive_accuracy_ratio", window, level)
        for window in WINDOWS
        for level in ("sequence", "token")
    },
    **{f"f1/micro/{window}": ("progressive_f1_ratio", window, "micro") for window in WINDOWS},
    "f1/macro/recent": ("progressive_macro_f1_ratio",),
}
"""Names in `events.Learned.progressive`, and the metric and label values that show each."""
