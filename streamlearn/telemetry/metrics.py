"""The observer that turns the loop's events into Prometheus metrics."""

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from math import nan
from typing import TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Info,
    ProcessCollector,
    disable_created_metrics,
)

from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.events import (
    CheckpointDone,
    Configured,
    ConsumerRestarted,
    DeadLettered,
    Event,
    Gap,
    Learned,
    LearningProblem,
    Polled,
    Rejected,
    ReloadFailed,
    Resumed,
    Standing,
    StateChanged,
)
from streamlearn.telemetry.catalogue import (
    LEARNER_GAUGES,
    METRICS,
    PREFIX,
    PROBLEMS,
    PROGRESSIVE_SCORES,
    STATES,
    Spec,
)
from streamlearn.telemetry.current import Current
from streamlearn.telemetry.histogram import BatchHistogram

logger = logging.getLogger(__name__)

# Clocks synchronised by NTP differ by less.
_SKEW_SECONDS = 60

_Metric = TypeVar("_Metric", Counter, Gauge)


class Metrics:
    """An observer that keeps every metric of the catalogue in its `registry`.

    A scrape never blocks the loop: each value is replaced as a whole.

    Parameters
    ----------
    registry : where all metrics are registered, process and garbage collection included; default a new one.
    version, model, learner, digest : values of ``build_info`` and ``config_info``.
    current : asked at each scrape.
    clock : returns Unix time.

    Examples
    --------
    >>> metrics = Metrics(version="0.1.0", model="np", learner="perceptron", digest="c0ffee")
    >>> metrics(StateChanged("running"))
    >>> metrics.registry.get_sample_value("streamlearn_state", {"state": "running"})
    1.0
    """

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        *,
        version: str,
        model: str,
        learner: str,
        digest: str,
        current: Current = Current(),  # noqa: B008 - it is frozen
        clock: Callable[[], float] = time.time,
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry = CollectorRegistry() if registry is None else registry
        self._clock = clock
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, BatchHistogram] = {}
        # Looking up a child by its labels takes prometheus_client longer than adding to it.
        self._counter_children: dict[tuple[str, ...], Counter] = {}
        self._gauge_children: dict[tuple[str, ...], Gauge] = {}
        self._partitions: dict[TopicPartition, PartitionStatus] = {}
        self._reached: Mapping[TopicPartition, int] = {}
        # The learner's totals so far; after a restart they include those of earlier processes.
        self._totals: dict[str, float] = {}
        self._is_resumed = False
        self._labels: set[str] = set()
        self._unknown: set[str] = set()
        info = {
            "build_info": {"version": version},
            "config_info": {"model": model, "learner": learner, "digest": digest},
        }
        for spec in METRICS:
            if spec.kind == "info":
                Info(PREFIX + spec.name.removesuffix("_info"), spec.help, registry=registry).info(
                    info[spec.name]
                )
            else:
                self._add(spec, registry)
        for name, (metric, *labels) in PROGRESSIVE_SCORES.items():
            if "hour" in labels:
                self._compute(metric, partial(_score, current.last_hour, name), *labels)
        self._compute("checkpoint_disk_free_bytes", lambda: _or_nan(current.free_bytes()))
        self(StateChanged("starting"))
        self._set("consumer_connected", 0)
        self._set("consumer_partitions_without_leader", 0)
        for reason in PROBLEMS:
            self._set("learning_problem", 0, reason)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case Learned():
                self._learned(event)
            case Polled():
                self._polled(event)
            case Rejected():
                self._inc("records_rejected_total", 1, event.reason)
            case DeadLettered(outcome, count):
                self._inc("dead_letters_total", count, outcome)
            case ConsumerRestarted(reason):
                self._inc("consumer_restarts_total", 1, reason)
            case Gap(lost=True):
                self._inc("consumer_records_lost_total", event.count)
            case Gap():
                self._inc("consumer_offset_gaps_total", 1)
            case LearningProblem():
                self._set("learning_problem", event.is_present, event.reason)
            case CheckpointDone():
                self._checkpoint_done(event)
            case Resumed():
                self._resumed(event)
            case Configured(every_seconds):
                self._set("checkpoint_interval_seconds", every_seconds)
                self._set("config_reload_successful", 1)
            case ReloadFailed():
                self._set("config_reload_successful", 0)
            case StateChanged():
                for state in STATES:
                    self._set("state", state == event.state, state)

    def _add(self, spec: Spec, registry: CollectorRegistry) -> None:
        name, labels = PREFIX + spec.name, spec.labels
        if spec.kind == "histogram":
            self._histograms[spec.name] = BatchHistogram(
                name, spec.help, registry, spec.buckets, list(labels.items())
            )
            return
        combinations = product(*labels.values())
        if spec.kind == "counter":
            self._counters[spec.name] = Counter(name, spec.help, list(labels), registry=registry)
            for values in combinations:
                self._inc(spec.name, 0, *values)
        else:
            self._gauges[spec.name] = Gauge(name, spec.help, list(labels), registry=registry)
            for values in combinations:
                self._set(spec.name, nan, *values)

    def _inc(self, name: str, amount: float, *labels: str) -> None:
        _child(self._counters, self._counter_children, name, labels).inc(amount)

    def _set(self, name: str, value: float, *labels: str) -> None:
        _child(self._gauges, self._gauge_children, name, labels).set(value)

    def _compute(self, name: str, value: Callable[[], float], *labels: str) -> None:
        """Ask for a value at each scrape, because it changes with the time alone."""
        _child(self._gauges, self._gauge_children, name, labels).set_function(value)

    def _polled(self, event: Polled) -> None:
        self._set("consumer_last_poll_timestamp_seconds", self._clock())
        self._set("consumer_connected", event.connected)
        waiting = sum(not status.has_leader for status in event.partitions.values())
        self._set("consumer_partitions_without_leader", waiting)
        for tp, status in event.partitions.items():
            # Most polls move few partitions: the rest costs one comparison each.
            if status != self._partitions.get(tp):
                self._partitions[tp] = status
                self._inc("consumer_records_total", 0, tp.topic)
                labels = (tp.topic, str(tp.partition))
                self._set("consumer_position_offset", status.position, *labels)
                self._set("consumer_high_watermark_offset", _or_nan(status.high_watermark), *labels)
                self._set("consumer_lag_records", _or_nan(status.lag), *labels)
        for tp, records in event.records.items():
            self._inc("consumer_records_total", records, tp.topic)
            self._inc("consumer_bytes_total", event.bytes.get(tp, 0), tp.topic)
            if tp in self._reached and tp in event.partitions:
                replayed = self._replayed(tp, event.partitions[tp].position, records)
                self._inc("replayed_records_total", replayed)
        for tp, milliseconds in event.last_timestamp_ms.items():
            # -1: the broker keeps no timestamps.
            if milliseconds >= 0:
                labels = (tp.topic, str(tp.partition))
                self._set("consumer_last_record_timestamp_seconds", milliseconds / 1000, *labels)
            if milliseconds / 1000 > self._clock() + _SKEW_SECONDS:
                self._inc("consumer_future_timestamps_total", 1)

    def _replayed(self, tp: TopicPartition, position: int, records: int) -> int:
        """Return how many of the last records before a position an earlier process had read."""
        return min(records, max(0, self._reached[tp] - (position - records)))

    def _learned(self, event: Learned) -> None:
        self._inc("sequences_total", event.sequences)
        self._inc("tokens_total", event.tokens)
        self._inc("updates_total", int(event.updated.sum()))
        self._inc("mistakes_total", int((event.wrong > 0).sum()), "sequence")
        self._inc("mistakes_total", int(event.wrong.sum()), "token")
        # Rounding may turn a loss of 0 negative, and a counter must not decrease.
        self._inc("loss_total", max(0.0, float(event.losses.sum())))
        self._histograms["sequence_length_tokens"].observe_many(event.lengths)
        self._histograms["decode_duration_seconds"].observe_many([event.decode_seconds])
        self._histograms["learn_duration_seconds"].observe_many([event.learn_seconds])
        self._show(event.standing)
        self._inc("off_scheme_sequences_total", event.off_scheme)
        for drift in event.drifts:
            self._inc("drift_detected_total", 1, drift.detector, drift.signal)

    def _resumed(self, event: Resumed) -> None:
        self._inc("checkpoints_total", event.corrupt, "corrupt")
        self._is_resumed = True
        self._reached = event.reached
        self._show(event.standing)
        self._show_saved(event.created_unix, event.standing.sequences_seen, event.size_bytes)

    def _checkpoint_done(self, event: CheckpointDone) -> None:
        self._inc("checkpoints_total", 1, event.outcome)
        if event.outcome == "written":
            self._histograms["checkpoint_duration_seconds"].observe_many([event.copy_seconds], "copy")
            self._histograms["checkpoint_duration_seconds"].observe_many([event.write_seconds], "write")
            self._show_saved(self._clock(), event.sequences_seen, event.size_bytes)

    def _show_saved(self, time: float, sequences: int, size_bytes: int) -> None:
        self._set("last_checkpoint_timestamp_seconds", time)
        self._set("checkpoint_sequences", sequences)
        self._set("checkpoint_size_bytes", size_bytes)

    def _show(self, standing: Standing) -> None:
        self._set("sequences_seen", standing.sequences_seen)
        self._show_progressive(standing.progressive)
        self._show_gauges(standing.gauges)
        self._show_labels({label: score.f1 for label, score in standing.labels.items()})
        self._set("other_labels_f1_ratio", standing.other_labels.f1 if standing.other_labels else nan)
        for signal, score in standing.drift_scores.items():
            self._set("drift_score", score, signal)

    def _show_progressive(self, scores: Mapping[str, float]) -> None:
        for name, (metric, *labels) in PROGRESSIVE_SCORES.items():
            if "hour" not in labels:
                self._set(metric, scores.get(name, nan), *labels)
        self._warn_of(scores.keys() - PROGRESSIVE_SCORES.keys())

    def _show_labels(self, scores: Mapping[str, float]) -> None:
        for label in self._labels - scores.keys():
            self._gauges["label_f1_ratio"].remove(label)
            del self._gauge_children[("label_f1_ratio", label)]
        for label, f1 in scores.items():
            self._set("label_f1_ratio", f1, label)
        self._labels = set(scores)

    def _show_gauges(self, gauges: Mapping[str, float]) -> None:
        for name, value in gauges.items():
            metric, *labels = LEARNER_GAUGES.get(name, ("",))
            if metric in self._counters:
                self._count_up_to(name, value, metric, *labels)
            elif metric:
                self._set(metric, value, *labels)
        self._warn_of(gauges.keys() - LEARNER_GAUGES.keys())

    def _count_up_to(self, name: str, total: float, metric: str, *labels: str) -> None:
        # Totals of earlier processes are not part of this process's counter.
        before = self._totals.get(name, total if self._is_resumed else 0.0)
        self._inc(metric, max(0.0, total - before), *labels)
        self._totals[name] = total

    def _warn_of(self, names: set[str]) -> None:
        for name in sorted(names - self._unknown):
            self._unknown.add(name)
            logger.warning("no metric is defined for the learner's gauge %r", name)


def _child(
    metrics: Mapping[str, _Metric],
    children: dict[tuple[str, ...], _Metric],
    name: str,
    labels: tuple[str, ...],
) -> _Metric:
    child = children.get((name, *labels))
    if child is None:
        metric = metrics[name]
        child = children[(name, *labels)] = metric.labels(*labels) if labels else metric
    return child


def _score(scores: Callable[[], Mapping[str, float]], name: str) -> float:
    return scores().get(name, nan)


def _or_nan(value: int | None) -> float:
    return nan if value is None else value
