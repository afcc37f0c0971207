import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from streamlearn.app.build_learner import LEARNERS
from streamlearn.app.build_tagger import build_tagger
from streamlearn.config.load import load
from streamlearn.daemon.learning_state import TOP_LABELS
from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.errors import Reason
from streamlearn.events import Configured, Drift, LabelScore, ReloadFailed, StateChanged
from streamlearn.monitor.progressive import Progressive
from streamlearn.telemetry.catalogue import LEARNER_GAUGES, METRICS, PROGRESSIVE_SCORES, SIGNALS
from streamlearn.telemetry.current import Current
from streamlearn.telemetry.metrics import Metrics
from tests.sequences import make_examples, write_config
from tests.telemetry import examples

NOW = 1_700_000_100.0
NOTHING = Current()


class Scraped:
    """The metrics after some events, read as Prometheus reads them."""

    def __init__(self, *events, current=NOTHING):
        self.registry = CollectorRegistry()
        observe = Metrics(
            self.registry,
            version="0.1.0",
            model="np",
            learner="perceptron",
            digest="c0ffee",
            current=current,
            clock=lambda: NOW,
        )
        for event in events:
            observe(event)

    def __call__(self, name, **labels):
        return self.registry.get_sample_value(f"streamlearn_{name}", labels)

    def text(self):
        return generate_latest(self.registry).decode()


def test_learning_is_counted():
    scraped = Scraped(examples.learned(), examples.learned(gauges={"features_refused": 9.0}))
    assert scraped("sequences_total") == 4
    assert scraped("tokens_total") == 14
    assert scraped("updates_total") == 2
    assert scraped("mistakes_total", level="sequence") == 2
    assert scraped("mistakes_total", level="token") == 6
    assert scraped("loss_total") == 1.0
    assert scraped("sequences_seen") == 1002
    assert scraped("features_known") == 12
    assert scraped("features_refused_total") == 9
    assert scraped("weights_norm") == 1.5
    assert scraped("learn_duration_seconds_bucket", le="0.01") == 0
    assert scraped("learn_duration_seconds_bucket", le="0.025") == 2
    assert scraped("decode_duration_seconds_sum") == pytest.approx(0.004)
    assert scraped("sequence_length_tokens_count") == 4
    assert scraped("sequence_length_tokens_sum") == 14
    assert scraped("sequence_length_tokens_bucket", le="10.0") == 4


def test_progressive_scores_that_are_not_known_are_no_number():
    scraped = Scraped(examples.learned(progressive={"f1/micro/recent": 0.9}), examples.learned())
    assert scraped("progressive_accuracy_ratio", window="recent", level="token") == 0.75
    assert scraped("progressive_f1_ratio", window="lifetime", average="micro") == 0.5
    assert math.isnan(scraped("progressive_f1_ratio", window="recent", average="micro"))


def test_every_progressive_score_has_a_metric():
    progressive = Progressive()
    labels = ["O", "B-NP"]
    progressive.update(np.array([0, 1]), np.array([0, 1]), np.array([0, 2]), labels)
    assert progressive.scores().keys() | progressive.last_hour().keys() == PROGRESSIVE_SCORES.keys()


@pytest.mark.parametrize("kind", sorted(LEARNERS))
def test_every_gauge_of_a_learner_has_a_metric(kind, tmp_path):
    config = load(write_config(tmp_path / "config.yaml", learner={"kind": kind}))
    tagger = build_tagger(config)
    tagger.learn_many(make_examples(20))
    assert tagger.gauges().keys() <= LEARNER_GAUGES.keys()


def test_labels_come_and_go_and_only_the_newest_are_shown():
    first = examples.learned(labels={"NP": LabelScore(1.0, 0.5, 2 / 3, 4), "VP": LabelScore(0, 0, 0.0, 1)})
    second = examples.learned(labels={"NP": LabelScore(1.0, 1.0, 1.0, 4)})
    assert Scraped(first)("label_f1_ratio", label="NP") == 2 / 3
    scraped = Scraped(first, second)
    assert scraped("label_f1_ratio", label="NP") == 1.0
    assert scraped("label_f1_ratio", label="VP") is None


def test_drift_is_counted_and_its_score_shown():
    drift = Drift(500, "error", "adwin", 0.1, 0.6)
    scraped = Scraped(examples.learned(drifts=[drift], drift_scores={"error": 7.5}))
    assert scraped("drift_detected_total", detector="adwin", signal="error") == 1
    assert scraped("drift_detected_total", detector="kswin", signal="error") == 0
    assert scraped("drift_score", signal="error") == 7.5
    assert math.isnan(scraped("drift_score", signal="loss"))


def test_gauges_with_labels_are_shown_by_the_catalogue_alone():
    scraped = Scraped(examples.learned(gauges={"learning_rate/0.5": 0.25, "frequency_window": 3.0}))
    assert scraped("learning_rate", share="0.5") == 0.25
    assert math.isnan(scraped("learning_rate", share="0.9"))
    assert scraped("frequency_window") == 3


def test_a_gauge_that_no_metric_shows_is_told_once(caplog):
    event = examples.learned(gauges={"surprise": 1.0})
    Scraped(event, event)
    assert [record.getMessage() for record in caplog.records] == [
        "no metric is defined for the learner's gauge 'surprise'"
    ]


def test_polls_are_shown_by_partition():
    scraped = Scraped(examples.polled(), examples.polled())
    tp = {"topic": "orders", "partition": "0"}
    assert scraped("consumer_records_total", topic="orders") == 10
    assert scraped("consumer_bytes_total", topic="orders") == 1000
    assert scraped("consumer_position_offset", **tp) == 10
    assert scraped("consumer_high_watermark_offset", **tp) == 14
    assert scraped("consumer_lag_records", **tp) == 4
    assert scraped("consumer_last_record_timestamp_seconds", **tp) == 1_700_000_000.5
    assert scraped("consumer_last_poll_timestamp_seconds") == NOW
    assert scraped("consumer_connected") == 1


def test_records_that_an_earlier_process_had_read_are_counted_as_replayed():
    tp = TopicPartition("orders", 0)
    polls = [examples.polled(status=PartitionStatus(position, 20, 0)) for position in (5, 10, 15, 20)]
    assert Scraped(examples.resumed(), *polls)("replayed_records_total") == 0
    assert Scraped(examples.resumed(reached={tp: 12}), *polls)("replayed_records_total") == 12


def test_records_that_are_stamped_with_the_future_are_counted():
    tp = TopicPartition("orders", 0)
    stamps = [NOW - 5, NOW + 59, NOW + 61, NOW + 3600]
    scraped = Scraped(*(examples.polled(last_timestamp_ms={tp: int(1000 * at)}) for at in stamps))
    assert scraped("consumer_future_timestamps_total") == 2


def test_a_partition_without_records_has_its_series_and_a_lag_that_is_not_known():
    silent = examples.polled(
        records={}, bytes={}, last_timestamp_ms={}, status=PartitionStatus(10, None, None), connected=False
    )
    scraped = Scraped(silent)
    tp = {"topic": "orders", "partition": "0"}
    assert scraped("consumer_records_total", topic="orders") == 0
    assert math.isnan(scraped("consumer_lag_records", **tp))
    assert scraped("consumer_last_record_timestamp_seconds", **tp) is None
    assert scraped("consumer_connected") == 0


def test_partitions_without_a_leader_are_counted():
    assert Scraped()("consumer_partitions_without_leader") == 0
    leaderless = examples.polled(partitions=2, status=PartitionStatus(10, None, None, has_leader=False))
    assert Scraped(leaderless)("consumer_partitions_without_leader") == 2
    assert Scraped(leaderless, examples.polled(partitions=2))("consumer_partitions_without_leader") == 0


def test_a_partition_that_moves_again_is_shown_again():
    events = [
        examples.polled(status=PartitionStatus(position, 14, 14 - position)) for position in (10, 12, 10)
    ]
    scraped = Scraped(*events[:2])
    assert scraped("consumer_lag_records", topic="orders", partition="0") == 2
    assert Scraped(*events)("consumer_lag_records", topic="orders", partition="0") == 4


def test_rejects_and_gaps_are_counted():
    scraped = Scraped(*examples.all_kinds())
    assert scraped("records_rejected_total", reason="length") == 1
    assert scraped("consumer_records_lost_total") == 5
    assert scraped("consumer_offset_gaps_total") == 1


def test_a_failed_checkpoint_leaves_age_and_size_of_the_good_one():
    scraped = Scraped(examples.written(), examples.failed())
    assert scraped("checkpoints_total", outcome="written") == 1
    assert scraped("checkpoints_total", outcome="failed") == 1
    assert scraped("checkpoint_size_bytes") == 4096
    assert scraped("last_checkpoint_timestamp_seconds") == NOW
    assert scraped("checkpoint_duration_seconds_sum", phase="copy") == 0.05
    assert scraped("checkpoint_duration_seconds_count", phase="write") == 1


def test_a_resumed_daemon_shows_its_past_but_counts_none_of_it():
    resumed = examples.resumed(
        sequences_seen=1000, corrupt=2, gauges={"features_refused": 70.0, "features_known": 12.0}
    )
    scraped = Scraped(resumed, examples.learned(gauges={"features_refused": 75.0}))
    assert scraped("sequences_total") == 2
    assert scraped("features_refused_total") == 5
    assert scraped("checkpoints_total", outcome="corrupt") == 2
    scraped = Scraped(resumed)
    assert scraped("sequences_seen") == 1000
    assert scraped("last_checkpoint_timestamp_seconds") == 1.6e9
    assert scraped("progressive_accuracy_ratio", window="recent", level="token") == 0.75
    assert scraped("features_known") == 12
    assert scraped("label_f1_ratio", label="y0") == 0.5
    assert scraped("checkpoint_size_bytes") == 2048
    assert scraped("checkpoint_sequences") == 1000


def test_all_that_a_batch_shows_of_the_model_a_checkpoint_shows_as_well():
    """No gauge may wait for the first record after a restart."""
    of_model = {"drift_scores": dict.fromkeys(SIGNALS, 1.0), "gauges": dict.fromkeys(LEARNER_GAUGES, 3.0)}
    unknown = [values(Scraped(event(**of_model))) for event in (examples.resumed, examples.learned)]
    assert unknown[0] <= unknown[1]


def values(scraped):
    """Return the names and labels of the gauges that are not known."""
    samples = [sample for family in scraped.registry.collect() for sample in family.samples]
    return {(name, *sorted(labels.items())) for name, labels, value, *_ in samples if math.isnan(value)}


def test_what_changes_with_the_time_is_asked_for_at_each_scrape():
    hour, free = {"accuracy/token/hour": 0.9, "f1/micro/hour": 0.8}, [10.0]
    scraped = Scraped(examples.learned(), current=Current(lambda: hour, lambda: free[0]))
    assert scraped("progressive_accuracy_ratio", window="hour", level="token") == 0.9
    assert scraped("progressive_f1_ratio", window="hour", average="micro") == 0.8
    assert math.isnan(scraped("progressive_accuracy_ratio", window="hour", level="sequence"))
    assert scraped("checkpoint_disk_free_bytes") == 10
    hour.clear()
    free[0] = None
    assert math.isnan(scraped("progressive_accuracy_ratio", window="hour", level="token"))
    assert math.isnan(scraped("checkpoint_disk_free_bytes"))


def test_the_interval_of_checkpoints_is_the_configured_one():
    assert Scraped(Configured(30.0), Configured(60.0))("checkpoint_interval_seconds") == 60


def test_a_refused_configuration_shows_until_one_is_taken_over():
    events = [Configured(60.0), ReloadFailed("learner.rate: wanted a number"), Configured(60.0)]
    shown = [Scraped(*events[:count])("config_reload_successful") for count in (1, 2, 3)]
    assert shown == [1, 0, 1]


def test_one_state_at_a_time():
    states = ("starting", "running", "stopping", "stopped", "failed")
    assert [Scraped()("state", state=s) for s in states] == [1, 0, 0, 0, 0]
    assert [Scraped(StateChanged("running"))("state", state=s) for s in states] == [0, 1, 0, 0, 0]


def test_infos():
    scraped = Scraped()
    assert scraped("build_info", version="0.1.0") == 1
    assert scraped("config_info", model="np", learner="perceptron", digest="c0ffee") == 1


def test_all_counters_start_at_zero_with_all_their_labels():
    scraped = Scraped()
    for reason in Reason:
        assert scraped("records_rejected_total", reason=reason) == 0
    for outcome in ("written", "failed", "corrupt"):
        assert scraped("checkpoints_total", outcome=outcome) == 0
    assert scraped("consumer_records_lost_total") == 0


def test_both_formats_parse_and_carry_the_catalogue():
    scraped = Scraped(*examples.all_kinds())
    text = {family.name: family for family in parse_text(scraped.text())}
    exposition = generate_openmetrics(scraped.registry).decode()
    openmetrics = {family.name: family for family in parse_openmetrics(exposition)}
    for spec in METRICS:
        name = "streamlearn_" + spec.name
        plain = text[name if spec.kind == "info" else name.removesuffix("_total")]
        assert plain.type == ("gauge" if spec.kind == "info" else spec.kind)
        assert plain.documentation == spec.help
        family = openmetrics[name.removesuffix("_info").removesuffix("_total")]
        assert family.type == spec.kind
        assert all(spec.labels.keys() <= sample.labels.keys() for sample in family.samples)
    assert {"process_cpu_seconds", "python_gc_collections"} <= text.keys()
    assert "_created" not in scraped.text()


@pytest.mark.skipif(
    not shutil.which("promtool"), reason="promtool is absent (Debian: apt install prometheus)"
)
def test_promtool_finds_nothing_wrong_with_what_is_exposed():
    """All labels occur: of every learner's gauges, of partitions and of labels of the stream."""
    scraped = Scraped(*examples.all_kinds(), examples.learned(gauges=dict.fromkeys(LEARNER_GAUGES, 3.0)))
    command = ["promtool", "check", "metrics"]
    done = subprocess.run(command, input=scraped.text(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_histograms_are_fine_where_values_are():
    histograms = [spec for spec in METRICS if spec.kind == "histogram"]
    for spec in histograms:
        assert 10 <= len(spec.buckets) <= 14, spec.name
        steps = np.array(spec.buckets[1:]) / np.array(spec.buckets[:-1])
        assert steps.max() <= 4, f"{spec.name}: a quantile within a bucket is a guess"


def test_names_have_units_and_helps_are_sentences():
    units = (
        "_(total|seconds|bytes|tokens|records|sequences|ratio|offset|info)$"
        "|_(known|norm|seen|connected|without_leader|problem|rate|window|score|limit|successful)$|^state$"
    )
    for spec in METRICS:
        assert re.search(units, spec.name), spec.name
        assert spec.name.endswith("_total") == (spec.kind == "counter")
        assert re.fullmatch(r"[A-Z0-9].*\.|.*\)\.", spec.help), spec.help
    assert len({spec.name for spec in METRICS}) == len(METRICS)


def test_label_values_that_do_not_come_with_the_stream_are_few():
    open_ended = {"topic", "partition", "label"}
    for spec in METRICS:
        if spec.kind != "info":
            assert all(values or label in open_ended for label, values in spec.labels.items()), spec.name
        assert math.prod(len(values) or 1 for values in spec.labels.values()) <= 16, spec.name


def test_fewer_than_350_series_with_32_partitions():
    labels = {f"t{n}": LabelScore(1.0, 1.0, 1.0, 1) for n in range(TOP_LABELS + 1)}
    scraped = Scraped(*examples.all_kinds(), examples.polled(partitions=32), examples.learned(labels=labels))
    series = [line for line in scraped.text().splitlines() if not line.startswith("#")]
    assert len(series) < 350
