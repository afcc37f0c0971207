"""All metrics in one list: name, type, labels and the help text that Prometheus shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

from streamlearn.choices import QUANTILES, DetectorKind, Problem, Signal
from streamlearn.errors import Reason
from streamlearn.events import State

PREFIX = "streamlearn_"

Kind = Literal["counter", "gauge", "histogram", "info"]
Labels = Mapping[str, tuple[str, ...]]
NO_LABELS: Labels = {}


@dataclass(frozen=True, slots=True)
class Spec:
    """One metric.

    Attributes
    ----------
    name : without the prefix; counters end in ``_total``, infos in ``_info``.
    kind : counters start at 0, gauges at NaN (not known yet).
    labels : label name to all its values; empty if the values depend on the stream.
    buckets : upper bounds of a histogram, without +Inf.
    """

    name: str
    kind: Kind
    help: str
    labels: Labels
    buckets: tuple[float, ...] = ()


def counter(name: str, text: str, labels: Labels = NO_LABELS) -> Spec:
    """Return a counter."""
    return Spec(name, "counter", text, labels)


def gauge(name: str, text: str, labels: Labels = NO_LABELS) -> Spec:
    """Return a gauge."""
    return Spec(name, "gauge", text, labels)


def histogram(name: str, text: str, labels: Labels = NO_LABELS, *, buckets: tuple[float, ...]) -> Spec:
    """Return a histogram."""
    return Spec(name, "histogram", text, labels, buckets)


# A batch is a single record or some hundred; a copy takes milliseconds, a slow disk a minute.
BATCH_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
CHECKPOINT_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)

PARTITION: Labels = {"topic": (), "partition": ()}
WINDOWS = ("lifetime", "recent", "fading", "hour")
DETECTORS: tuple[str, ...] = get_args(DetectorKind)
SIGNALS: tuple[str, ...] = get_args(Signal)
PROBLEMS: tuple[str, ...] = get_args(Problem)
STATES: tuple[str, ...] = get_args(State)

CONSUMER = (
    counter("consumer_records_total", "Records polled.", {"topic": ()}),
    counter("consumer_bytes_total", "Bytes of the record values polled.", {"topic": ()}),
    gauge("consumer_position_offset", "Offset of the next record to poll.", PARTITION),
    gauge(
        "consumer_high_watermark_offset",
        "Offset after the last record on the broker, as of the last fetch.",
        PARTITION,
    ),
    gauge(
        "consumer_lag_records",
        "Records on the broker that were not polled yet; never negative, NaN before the first fetch.",
        PARTITION,
    ),
    gauge(
        "consumer_last_record_timestamp_seconds",
        "Timestamp of the last record polled, as set by its producer or broker (Unix time).",
        PARTITION,
    ),
    counter(
        "consumer_future_timestamps_total",
        "Polls of a partition whose last record has a timestamp more than a minute ahead of the local clock.",
    ),
    gauge(
        "consumer_last_poll_timestamp_seconds",
        "Time of the last poll, whether or not it returned records (Unix time).",
    ),
    gauge("consumer_connected", "1 while a broker is connected, else 0."),
    gauge(
        "consumer_partitions_without_leader",
        "Partitions that no broker leads: they are waited for, and the others are read.",
    ),
    counter(
        "consumer_restarts_total",
        "Kafka clients recreated after a stalled partition or a batch that could not be decoded.",
        {"reason": ("stalled", "unreadable")},
    ),
    counter(
        "consumer_records_lost_total",
        "Records that the broker deleted before they were read; they were never learned.",
    ),
    counter(
        "replayed_records_total",
        "Records read again after a restart because the checkpoint did not include them; only with a local "
        "state directory.",
    ),
    counter(
        "consumer_offset_gaps_total",
        "Jumps over offsets without a record, left by compaction or transactions; harmless.",
    ),
)

INPUT = (
    counter(
        "records_rejected_total",
        "Records rejected as invalid, by reason; learning continues without them.",
        {"reason": tuple(Reason)},
    ),
    counter(
        "dead_letters_total",
        "Rejected records delivered to the dead letter topic or spooled to the local file.",
        {"outcome": ("delivered", "spooled")},
    ),
    histogram(
        "sequence_length_tokens",
        "Tokens per sequence learned.",
        buckets=(2, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500),
    ),
)

LEARNING = (
    counter("sequences_total", "Sequences learned since the process started, including replayed ones."),
    counter("tokens_total", "Tokens learned since the process started, including replayed ones."),
    gauge(
        "sequences_seen",
        "Sequences learned since the first start, across restarts and without replayed ones.",
    ),
    counter("updates_total", "Sequences that changed the weights."),
    counter(
        "mistakes_total",
        "Sequences with a wrong label, and wrong labels, as predicted before the sequence was learned.",
        {"level": ("sequence", "token")},
    ),
    counter("loss_total", "Sum of the learner's loss, computed on each sequence before learning it."),
    histogram("learn_duration_seconds", "Time to predict, score and learn one batch.", buckets=BATCH_SECONDS),
    histogram(
        "decode_duration_seconds", "Time to decode one batch from bytes to arrays.", buckets=BATCH_SECONDS
    ),
    gauge(
        "progressive_accuracy_ratio",
        "Share of tokens or whole sequences predicted correctly before they were learned: over the lifetime, "
        "the most recent 1000 sequences, exponentially faded, or the last hour as of the scrape. NaN if "
        "nothing was learned in the window.",
        {"window": WINDOWS, "level": ("sequence", "token")},
    ),
    gauge(
        "progressive_f1_ratio",
        "F1 of spans (as counted by conlleval) predicted before the sequence was learned; windows as for "
        "accuracy. NaN if the labels do not mark spans.",
        {"window": WINDOWS, "average": ("micro",)},
    ),
    gauge(
        "progressive_macro_f1_ratio",
        "Mean F1 over all span types, or all labels, in the last one to two thousand sequences.",
    ),
    gauge(
        "label_f1_ratio",
        "F1 of the eight most frequent span types or labels, in the last one to two thousand sequences.",
        {"label": ()},
    ),
    gauge(
        "other_labels_f1_ratio",
        "F1 of all other span types or labels together, in the same sequences; NaN if there are none.",
    ),
    counter(
        "off_scheme_sequences_total",
        "Sequences learned whose gold labels are not valid in labels.scheme.data or, without it, in "
        "labels.constrain.",
    ),
    gauge(
        "learning_problem",
        "1 while learning looks broken for this reason, else 0; judged every 500 sequences.",
        {"reason": PROBLEMS},
    ),
    counter(
        "drift_detected_total",
        "Concept drifts: rises of a signal found by a detector.",
        {"detector": DETECTORS, "signal": SIGNALS},
    ),
    gauge(
        "drift_score",
        "Standard errors by which a signal is above its earlier mean; NaN if unknown or not monitored.",
        {"signal": SIGNALS},
    ),
)

LEARNER = (
    gauge("features_known", "Features with a row of weights."),
    counter(
        "features_refused_total", "Occurrences of new features ignored because the feature table was full."
    ),
    gauge("labels_known", "Labels discovered so far."),
    gauge(
        "weights_norm",
        "Euclidean norm of the weights used for predictions, as of the last measured interval; +Inf if any "
        "weight is not finite.",
    ),
    gauge("update_norm", "Euclidean norm of the change of these weights over the last measured interval."),
    gauge("weight_delta_ratio", "Ratio of update_norm to weights_norm; falls as learning converges."),
    gauge(
        "weight_delta_sequences",
        "Sequences in the last measured interval; doubled when measuring takes too long.",
    ),
    gauge(
        "last_weights_norm",
        "Euclidean norm of the latest weights, without averaging; perceptrons, PA, AROW and SWVP only.",
    ),
    gauge(
        "margin_limit",
        "Norm of the latest weights divided by the number of updates: an upper bound on the margin by which "
        "weights of norm 1 can separate the stream; perceptron only.",
    ),
    gauge(
        "learning_rate",
        "Learning rate, at its last occurrence, that this share of the features does not exceed; ADF and SGD "
        "only.",
        {"share": QUANTILES},
    ),
    gauge("frequency_window", "Current window of ADF's feature counts, numbered from 1; ADF and SGD only."),
    counter(
        "violations_total",
        "Mixed assignments that scored at least as high as the gold labels, or lower; SWVP only.",
        {"kind": ("violating", "non_violating")},
    ),
    counter("swvp_backoffs_total", "SWVP updates that fell back to the perceptron update."),
    counter(
        "swvp_violating_gamma_total",
        "Sum over updates of the weight gamma (0-1) that SWVP gave to violations, not to non-violations.",
    ),
)

CHECKPOINTS = (
    counter(
        "checkpoints_total",
        "Checkpoints written, failed, or found corrupt at startup.",
        {"outcome": ("written", "failed", "corrupt")},
    ),
    histogram(
        "checkpoint_duration_seconds",
        "Time that learning paused to copy the state, and time of the background write until it was durable.",
        {"phase": ("copy", "write")},
        buckets=CHECKPOINT_SECONDS,
    ),
    gauge("checkpoint_size_bytes", "Size of the last checkpoint written."),
    gauge(
        "last_checkpoint_timestamp_seconds",
        "Time of the last good checkpoint, written by this process or an earlier one (Unix time).",
    ),
    gauge(
        "checkpoint_sequences",
        "Sequences that the last good checkpoint includes; a crash repeats those of sequences_seen above it.",
    ),
    gauge("checkpoint_interval_seconds", "Time between checkpoints while records arrive, as configured."),
    gauge(
        "checkpoint_disk_free_bytes",
        "Free disk space for checkpoints, as of the scrape; NaN if unknown, as on S3.",
    ),
)

PROCESS = (
    Spec("build_info", "info", "Version of streamlearn.", {"version": ()}),
    Spec(
        "config_info",
        "info",
        "Model, learner, and digest of the settings that the saved state depends on.",
        {"model": (), "learner": (), "digest": ()},
    ),
    gauge(
        "config_reload_successful",
        "1 while the configuration is that of the last start or SIGHUP, 0 after an invalid one was refused.",
    ),
    gauge("state", "1 for the current state of the daemon, 0 for all others.", {"state": STATES}),
)

METRICS = (*CONSUMER, *INPUT, *LEARNING, *LEARNER, *CHECKPOINTS, *PROCESS)

LEARNER_GAUGES = {
    "/".join((spec.name.removesuffix("_total"), *values)): (spec.name, *values)
    for spec in LEARNER
    for values in product(*spec.labels.values())
}
"""Names in `events.Standing.gauges` to metric name and label values.

A learner's gauge ``learning_rate/0.5`` is the metric ``learning_rate`` with the label value ``0.5``; for
counters it is the total since the first start.
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
"""Names of scores to metric name and label values: in `events.Standing`, and of the last hour."""
