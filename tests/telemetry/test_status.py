import json

import pytest

from streamlearn.events import Drift, LabelScore, StateChanged
from streamlearn.telemetry.status import Status
from tests.telemetry import examples


@pytest.fixture
def status(clock):
    about = {"version": "0.1.0", "model": "np", "learner": "adf"}
    drift = Drift(500, "error", "adwin", 0.1, 0.6, ("rewarm",))
    return Status(about, lambda: {"sequences": [10.0], "f1": [float("nan")]}, lambda: [drift], clock=clock)


def test_before_anything_happens_all_is_known_that_can_be(status):
    shown = status.snapshot()
    assert (shown["state"], shown["connected"], shown["partitions"]) == ("starting", False, [])
    assert shown["about"]["model"] == "np"
    assert shown["curve"] == {"sequences": [10.0], "f1": [None]}


def test_it_is_json_whatever_happened(status):
    for event in examples.all_kinds():
        status(event)
    text = json.dumps(status.snapshot(), allow_nan=False)
    shown = json.loads(text)
    assert shown["state"] == "running"
    assert shown["sequences_seen"] == 1002
    assert shown["partitions"] == [
        {"topic": "orders", "partition": 0, "position": 10, "lag": 4, "has_leader": True}
    ]
    assert shown["checkpoint"]["seq"] == 4
    assert shown["checkpoint_failure"] == "no space left on device"
    assert shown["labels"]["y0"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "support": 3}
    assert shown["drifts"][0]["actions"] == ["rewarm"]


def test_of_rejected_records_the_newest_are_shown_and_nothing_that_they_hold(status):
    for _ in range(30):
        status(examples.rejected())
    shown = status.snapshot()
    assert shown["rejected_by_reason"] == {"length": 30}
    assert len(shown["rejected"]) == 20
    assert shown["rejected"][0]["where"] == "orders[3]@1841"
    assert "labels for" not in json.dumps(shown["rejected"])


def test_speed_is_that_of_the_last_seconds(status, clock):
    for clock.now in (1000.0, 1005.0, 1009.0):
        status(examples.learned())
    assert status.snapshot()["sequences_per_second"] == pytest.approx(0.6)
    clock.now = 1016.0
    assert status.snapshot()["tokens_per_second"] == pytest.approx(0.7)
    clock.now = 1100.0
    assert status.snapshot()["sequences_per_second"] == 0.0


def test_a_resumed_daemon_shows_its_past(status):
    scores = {"labels": {"NP": LabelScore(1.0, 0.5, 2 / 3, 4)}, "confusions": [("NP", "VP", 3)]}
    status(examples.resumed(created_unix=900.0, drift_scores={"error": 2.0}, **scores))
    restored = status.snapshot()
    status(examples.learned(drift_scores={"error": 2.0}, **scores))
    learned = status.snapshot()
    assert restored["checkpoint"] == {"seq": 3, "time": 900.0, "size_bytes": 2048}
    for name in ("sequences_seen", "progressive", "gauges", "labels", "confusions", "drift_scores"):
        assert restored[name] == learned[name] != type(learned[name])(), name


def test_states_follow_each_other(status):
    for state in ("running", "stopping"):
        status(StateChanged(state))
        assert status.snapshot()["state"] == state


def test_labels_are_plain(status):
    status(examples.learned(labels={"NP": LabelScore(1.0, 0.5, 2 / 3, 4)}, confusions=[("NP", "VP", 3)]))
    shown = status.snapshot()
    assert shown["labels"]["NP"]["support"] == 4
    assert shown["confusions"] == [["NP", "VP", 3]]


def test_a_daemon_that_has_just_started_shows_its_speed_since_then(status, clock):
    clock.now = 1100.0
    status(StateChanged("running"))
    clock.now = 1104.0
    status(examples.learned())
    assert status.snapshot()["sequences_per_second"] == pytest.approx(2 / 4)
