"""The daemon as a process of its own."""

import base64
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from streamlearn.checkpoint.local_files import open_checkpoint
from streamlearn.data import Example, TopicPartition
from streamlearn.errors import CheckpointError
from tests.conftest import Broker
from tests.kafka.broker import free_ports
from tests.kafka.topics import create, produce
from tests.sequences import to_json, write_config
from tests.waiting import until


class Run:
    """`streamlearn run` as a process of its own; `started` holds all, so that a failed test leaves none."""

    started: ClassVar[list["Run"]] = []

    def __init__(self, config: Path, *options: str) -> None:
        self.started.append(self)
        self._log = (config.parent / "log").open("ab")
        command = [
            sys.executable,
            "-c",
            "from streamlearn.cli.main import main; main()",
            "run",
            str(config),
            *options,
        ]
        # Without a terminal, as a supervisor starts it: SIGHUP means to reload.
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=self._log, start_new_session=True
        )

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(60)
        self._log.close()
        return code


def configure(
    folder: Path, broker: Broker, topic: str, *, sections: Mapping[str, Any] | None = None, **checkpoint: Any
) -> tuple[Path, str]:
    """Write a configuration; give it and where its metrics are."""
    [port] = free_ports(1)
    ours: dict[str, Any] = {
        "kafka": broker.client,
        "source": {"topics": [topic], "max_poll_records": 100},
        "checkpoint": {"directory": str(folder / "state"), **checkpoint},
        "metrics": {"port": port},
    }
    config = write_config(folder / "config.yaml", **ours | dict(sections or {}))
    return config, f"http://127.0.0.1:{port}"


def fill(broker: Broker, topic: str, examples: list[Example], partition: int = 0) -> None:
    """Write examples to a partition."""
    records = [(None, to_json(example), []) for example in examples]
    produce(broker, TopicPartition(topic, partition), records)


def start_learned(folder: Path, broker: Broker, topic: str, examples: list[Example]) -> tuple[Run, Path, str]:
    """Return a daemon that has learned these from a new topic, its configuration and its URL."""
    create(broker, topic)
    fill(broker, topic, examples)
    config, url = configure(folder, broker, topic)
    run = Run(config)
    until(lambda: metric(url, "streamlearn_sequences_seen") == len(examples), 60)
    return run, config, url


def seen(folder: Path) -> int:
    """Return how many sequences the newest checkpoint has seen, -1 without one."""
    try:
        return open_checkpoint(folder / "state").checkpoint.sequences_seen
    except CheckpointError:
        return -1


def fetch(url: str, login: str = "") -> tuple[int, str]:
    """Return status and text; 0 where nobody answers.

    Parameters
    ----------
    login : user and password with a colon between.
    """
    request = urllib.request.Request(url)
    if login:
        request.add_header("Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def metric(url: str, name: str) -> float:
    """Return the value of a metric, written as on the page; NaN where there is none."""
    for line in fetch(f"{url}/metrics")[1].splitlines():
        if line.startswith(f"{name} "):
            return float(line.split()[1])
    return float("nan")
