import shutil
import subprocess

import pytest
import yaml

from tests.deploy.dashboards import DEPLOY

FOLDER = DEPLOY / "prometheus"
ALERTS = [
    rule
    for group in yaml.safe_load((FOLDER / "rules.yaml").read_text())["groups"]
    for rule in group["rules"]
    if "alert" in rule
]
WANTED = [
    "Down",
    "LoopStalled",
    "PartitionStalled",
    "LagGrowing",
    "CheckpointStale",
    "CheckpointFailing",
    "CheckpointDiskLow",
    "RejectRateHigh",
    "RecordsLost",
    "CrashLoop",
    "NonFiniteWeights",
    "LearningBroken",
    "AccuracyDrop",
    "Drift",
    "NoUpdates",
    "MemoryHigh",
    "BrokerAway",
    "PartitionWithoutLeader",
    "Starting",
    "FeatureTableFull",
    "ReloadFailed",
    "DeadLettersSpooled",
]


def test_the_alerts_are_all_there():
    assert [rule["alert"] for rule in ALERTS] == [f"Streamlearn{name}" for name in WANTED]


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_says_how_bad_it_is_what_it_is_and_what_to_do(rule):
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert "{{ $labels.instance }}" in rule["annotations"]["summary"] or "{{ $labels.topic }}" in str(rule)
    assert len(rule["annotations"]["runbook"]) > 80


def test_every_alert_has_a_case_in_which_it_fires():
    cases = yaml.safe_load((FOLDER / "rules.test.yaml").read_text())["tests"]
    assert {rule["alert"] for rule in ALERTS} == {case["name"] for case in cases} - {"a healthy daemon"}


@pytest.mark.skipif(
    not shutil.which("promtool"), reason="promtool is absent (Debian: apt install prometheus)"
)
@pytest.mark.parametrize(
    "arguments", [("check", "rules", "rules.yaml"), ("test", "rules", "rules.test.yaml"),
                  ("check", "config", "prometheus.yaml")], ids=" ".join,
)  # fmt: skip
def test_promtool_agrees(arguments):
    done = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
