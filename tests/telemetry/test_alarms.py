import math
from pathlib import Path

import pytest
import yaml

from streamlearn.data import PartitionStatus
from streamlearn.events import Configured, DeadLettered, Drift, Gap, ReloadFailed, StateChanged
from streamlearn.telemetry.alarms import SEVERITIES, Alarms
from tests.telemetry import examples

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "rules.yaml"
# What a daemon cannot know of itself: who reaches it, how often it was started, what memory it may use.
OUTSIDE = {"Down", "CrashLoop", "MemoryHigh"}
GOOD = {"accuracy/token/recent": 0.9, "accuracy/token/lifetime": 0.9}
RUNNING = StateChanged("running")


@pytest.fixture
def free():
    return [10**9]


@pytest.fixture
def alarms(clock, free):
    return Alarms(lambda: free[0], clock)


def learned(**changes):
    return examples.learned(**{"progressive": GOOD, "gauges": {}} | changes)


def polled(**changes):
    return examples.polled(**{"status": PartitionStatus(14, 14, 0)} | changes)


def names(alarms):
    return [alarm.name for alarm in alarms.found()]


def tell(alarms, *events):
    for event in events:
        alarms(event)


def healthy():
    return [
        Configured(60.0),
        RUNNING,
        polled(),
        learned(),
        examples.written(),
    ]


def test_the_alarms_are_the_alerts_of_prometheus_with_the_same_severity():
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    alerts = {
        rule["alert"].removeprefix("Streamlearn"): rule["labels"]["severity"]
        for rule in rules
        if "alert" in rule
    }
    assert {name: alerts[name] for name in alerts.keys() - OUTSIDE} == SEVERITIES
    assert alerts.keys() >= OUTSIDE


def test_the_most_urgent_comes_first():
    order = ["critical", "warning", "info"]
    severities = [order.index(severity) for severity in SEVERITIES.values()]
    assert severities == sorted(severities)


def test_a_healthy_daemon_has_none(alarms):
    tell(alarms, *healthy())
    assert alarms.found() == []


def test_before_anything_happens_there_is_none(alarms):
    assert alarms.found() == []


def refused(count):
    return learned(gauges={"features_refused": count})


LOW = GOOD | {"accuracy/token/recent": 0.7}
DRIFT = Drift(500, "error", "adwin", 0.1, 0.6)
BEHIND = examples.polled(status=PartitionStatus(10, 5010, 5000))


@pytest.mark.parametrize(
    ("name", "events", "seconds"),
    [
        ("BrokerAway", [polled(connected=False)], 0),
        ("LoopStalled", [], 121),
        ("CheckpointFailing", [examples.failed()], 0),
        ("CheckpointStale", [learned(sequences_seen=1003)], 301),
        ("CheckpointDiskLow", [examples.written(size_bytes=4 * 10**8)], 0),
        ("RejectRateHigh", [examples.rejected()] * 2, 0),
        ("RecordsLost", [Gap(examples.TP, 5, lost=True)], 0),
        ("NonFiniteWeights", [learned(gauges={"weights_norm": math.inf})], 0),
        ("AccuracyDrop", [learned(progressive=LOW)], 0),
        ("FeatureTableFull", [refused(9)], 0),
        ("DeadLettersSpooled", [DeadLettered("spooled", 2)], 0),
        ("ReloadFailed", [ReloadFailed("learner.rate: wanted a number")], 0),
        ("Drift", [learned(drifts=[DRIFT])], 0),
    ],
)
def test_what_goes_wrong_is_told_with_a_reason_until_it_is_right(alarms, clock, name, events, seconds):
    tell(alarms, *healthy(), refused(0))
    tell(alarms, *events)
    clock.now += seconds
    if name != "LoopStalled":
        alarms(polled(connected=name != "BrokerAway"))
    [alarm] = alarms.found()
    assert (alarm.name, alarm.severity) == (name, SEVERITIES[name])
    assert len(alarm.text) > 20
    clock.now += 3700
    tell(alarms, *healthy())
    assert alarms.found() == []


def test_sizes_are_in_units_in_which_they_can_be_compared(alarms, free):
    tell(alarms, *healthy(), examples.written(size_bytes=306_328))
    free[0] = 4096
    assert [alarm.text for alarm in alarms.found()] == ["4 kB of disk left, a checkpoint has 306 kB"]


def test_a_daemon_that_does_not_begin_to_run_is_told(alarms, clock):
    clock.now += 901
    assert names(alarms) == ["Starting"]


def test_a_partition_that_is_not_read_and_a_growing_lag_are_told(alarms, clock):
    tell(alarms, *healthy())
    for _ in range(20):
        clock.now += 60
        tell(alarms, BEHIND)
    assert "PartitionStalled" in names(alarms)
    for minute in range(20):
        clock.now += 60
        tell(alarms, examples.polled(status=PartitionStatus(20 + minute, None, 5000 + minute)))
    assert names(alarms) == ["LagGrowing"]


def test_work_after_a_long_idle_time_is_neither_late_nor_stalled(alarms, clock):
    tell(alarms, *healthy())
    clock.now += 100_000
    tell(alarms, BEHIND, learned(sequences_seen=2000))
    assert alarms.found() == []


def test_mistakes_without_updates_are_told_after_half_an_hour(alarms, clock):
    tell(alarms, *healthy()[:3])
    for _ in range(31):
        assert names(alarms) == []
        tell(alarms, polled(), learned(updates=0), examples.written())
        clock.now += 60
    tell(alarms, polled())
    assert names(alarms) == ["NoUpdates"]


def test_a_restored_daemon_that_has_nothing_to_save_is_not_told_to_be_late(alarms, clock):
    tell(alarms, Configured(60.0), examples.resumed(progressive=GOOD, gauges={}), RUNNING)
    clock.now += 100_000
    tell(alarms, polled())
    assert alarms.found() == []


def test_an_unknown_free_space_and_an_unknown_interval_are_no_alarm(alarms, clock, free):
    free[0] = None
    tell(alarms, *healthy()[1:], learned(sequences_seen=2000))
    clock.now += 100_000
    tell(alarms, polled())
    assert alarms.found() == []
