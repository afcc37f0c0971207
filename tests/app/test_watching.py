"""What an operator sees of a daemon from outside: restarted on an idle stream, and reconfigured."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.app.process import Run, configure, fetch, fill, metric
from tests.conftest import Broker
from tests.kafka.topics import create
from tests.sequences import make_examples
from tests.waiting import until

# What a restart cannot change, as long as nothing arrives.
LASTING = ("sequences_seen", "progressive", "labels", "confusions", "curve", "drift_scores")


def status(url: str) -> dict[str, Any]:
    code, text = fetch(f"{url}/status.json")
    found: dict[str, Any] = json.loads(text) if code == 200 else {"state": "no answer"}
    return found


def running(url: str) -> dict[str, Any]:
    return until(lambda: (shown := status(url))["state"] == "running" and shown, 60)


def without_hour(scores: dict[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if not name.endswith("/hour")}


def logged(folder: Path, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    return [line for line in lines if line["event"] == event]


@pytest.fixture
def configured(folder: Path, embedded_broker: Broker, topic: str) -> tuple[Path, str]:
    create(embedded_broker, topic)
    fill(embedded_broker, topic, make_examples(1500))
    return configure(folder, embedded_broker, topic, sections={"log": {"format": "json"}})


def test_a_restarted_daemon_on_an_idle_stream_shows_all_that_it_was(
    folder: Path, configured: tuple[Path, str]
) -> None:
    config, url = configured
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 1500, 60)
    before = status(url)
    assert "accuracy/token/hour" in before["progressive"]
    assert run.end(signal.SIGTERM) == 0
    run = Run(config)
    after = running(url)
    assert before["progressive"].keys() - after["progressive"].keys() >= {"accuracy/token/hour"}
    for shown in (before, after):
        shown["progressive"] = without_hour(shown["progressive"])
    assert {name: after[name] for name in LASTING} == {name: before[name] for name in LASTING}
    assert after["labels"]
    assert before["gauges"].keys() - after["gauges"].keys() <= {
        "update_norm",
        "weight_delta_ratio",
        "weight_delta_sequences",
    }
    assert after["gauges"]["weights_norm"] > 0
    assert (
        after["checkpoint"]["size_bytes"] == before["checkpoint"]["size_bytes"]
        or after["checkpoint"]["size_bytes"]
    )
    assert after["alarms"] == []
    text = fetch(f"{url}/metrics")[1]
    assert 'streamlearn_progressive_accuracy_ratio{level="token",window="hour"} NaN' in text
    assert "streamlearn_checkpoint_disk_free_bytes NaN" not in text
    assert run.end(signal.SIGTERM) == 0
    for line in logged(folder, "state_changed"):
        assert (line["model"], line["version"]) == ("test", after["about"]["version"])
        assert line["host"]
    assert len({line["run_id"] for line in logged(folder, "state_changed")}) == 2


def test_a_hangup_changes_what_can_be_changed_and_says_what_cannot(
    folder: Path, configured: tuple[Path, str]
) -> None:
    config, url = configured
    run = Run(config)
    running(url)
    wanted = json.loads(config.read_text())
    wanted["checkpoint"] |= {"every_seconds": 7.0, "keep": 5}
    wanted["log"] |= {"level": "debug"}
    wanted["drift"] = {"actions": ["reset_average"]}
    wanted["kafka"]["client_id"] = "other"
    config.write_text(json.dumps(wanted))
    os.kill(run.process.pid, signal.SIGHUP)
    [line] = until(lambda: logged(folder, "reloaded"), 30)
    assert line["applied"] == "checkpoint.every_seconds, drift.actions, log.level"
    assert line["needs_restart"] == "checkpoint.keep, kafka.client_id"
    until(lambda: metric(url, "streamlearn_checkpoint_interval_seconds") == 7.0)
    assert metric(url, "streamlearn_config_reload_successful") == 1

    config.write_text(json.dumps(wanted | {"drift": {"actions": ["rewarm"]}}))
    os.kill(run.process.pid, signal.SIGHUP)
    [line] = until(lambda: logged(folder, "reload_failed"), 30)
    assert "perceptron with these settings cannot rewarm" in line["error"]
    until(lambda: metric(url, "streamlearn_config_reload_successful") == 0)
    assert [alarm["name"] for alarm in status(url)["alarms"]] == ["ReloadFailed"]

    config.write_text(json.dumps(wanted))
    os.kill(run.process.pid, signal.SIGHUP)
    until(lambda: metric(url, "streamlearn_config_reload_successful") == 1)
    assert run.end(signal.SIGTERM) == 0
