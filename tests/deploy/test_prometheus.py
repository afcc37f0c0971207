"""A real Prometheus scrapes a daemon on Apache Kafka: all expressions of panels and alerts have data."""

import json
import re
import shutil
import signal
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.app.test_run import Run, fill, metric
from tests.conftest import Broker
from tests.deploy.dashboards import DEPLOY, dashboards, panels
from tests.kafka.broker import free_ports
from tests.kafka.topics import create
from tests.sequences import make_examples, write_config
from tests.waiting import until

pytestmark = [
    pytest.mark.apache,
    pytest.mark.skipif(
        not shutil.which("prometheus"), reason="prometheus is absent (Debian: apt install prometheus)"
    ),
]

VARIABLES = {"$job": ".*", "$instance": ".*", "$topic": ".*", "$__rate_interval": "30s"}


def expressions() -> dict[str, str]:
    """Return every expression by where it stands; of comparisons the side that is watched."""
    found = {}
    for dashboard in dashboards():
        for panel in panels(dashboard):
            for target in panel["targets"]:
                where = f"{dashboard['uid']}: {panel['title']}: {target['legendFormat']}"
                found[where] = target["expr"].removesuffix(" == 0")
        for annotation in dashboard["annotations"]["list"]:
            found[f"annotation {annotation['name']}"] = annotation["expr"].removesuffix(" > 0")
    rules = yaml.safe_load((DEPLOY / "prometheus" / "rules.yaml").read_text())
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        if "record" in rule:
            found[rule["record"]] = rule["expr"]
        else:
            for selector in re.findall(r"\b(?:streamlearn|process)[\w:]+(?:\{[^}]*\})?", rule["expr"]):
                found[f"{rule['alert']}: {selector}"] = selector
    for variable, value in VARIABLES.items():
        found = {where: text.replace(variable, value) for where, text in found.items()}
    return found


@pytest.fixture
def prometheus(tmp_path: Path):
    servers = []

    def start(target: str) -> str:
        [port] = free_ports(1)
        shutil.copy(DEPLOY / "prometheus" / "rules.yaml", tmp_path)
        text = (DEPLOY / "prometheus" / "prometheus.yaml").read_text()
        text = text.replace("streamlearn:9464", target).replace("_interval: 5s", "_interval: 1s")
        (tmp_path / "prometheus.yaml").write_text(text.replace("_interval: 15s", "_interval: 1s"))
        command = [
            "prometheus",
            f"--config.file={tmp_path / 'prometheus.yaml'}",
            f"--storage.tsdb.path={tmp_path / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with (tmp_path / "prometheus.log").open("w") as log:
            servers.append(subprocess.Popen(command, stderr=log))
        return f"http://127.0.0.1:{port}"

    yield start
    for server in servers:
        server.kill()
        server.wait()


def ask(server: str, expression: str) -> list[object]:
    query = urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(f"{server}/api/v1/query?{query}", timeout=5) as answer:
            return json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as error:
        return pytest.fail(f"{expression}: {error.read().decode()}")
    except OSError:
        return []


def test_every_expression_has_data(tmp_path: Path, apache_kafka: Broker, topic: str, prometheus) -> None:
    create(apache_kafka, topic)
    fill(apache_kafka, topic, make_examples(3000))
    [port] = free_ports(1)
    config = write_config(
        tmp_path / "config.yaml",
        kafka=apache_kafka.client,
        learner={"kind": "adf"},
        source={"topics": [topic], "max_poll_records": 500},
        checkpoint={"directory": str(tmp_path / "state"), "every_seconds": 1},
        metrics={"port": port},
    )
    run = Run(config)
    try:
        server = prometheus(f"127.0.0.1:{port}")
        until(lambda: metric(f"http://127.0.0.1:{port}", "streamlearn_sequences_seen") == 3000, 120)
        # Rates need two scrapes, and rules an evaluation after them.
        fill(apache_kafka, topic, make_examples(2100, seed=1))
        until(lambda: ask(server, "streamlearn:loss:mean5m"), 60, "a recording")
        empty = lambda: [where for where, text in expressions().items() if not ask(server, text)]  # noqa: E731
        until(lambda: not empty(), 30, f"data for {empty()}")
        assert run.end(signal.SIGTERM) == 0
    finally:
        run.process.kill()
