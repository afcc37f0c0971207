import io

import pytest
from prometheus_client import CollectorRegistry
from rich.console import Console

from streamlearn.events import Drift, LabelScore, StateChanged
from streamlearn.telemetry.health import Health
from streamlearn.telemetry.server import Server
from streamlearn.telemetry.status import Status
from streamlearn.terminal.board import Board, without_answer
from tests.cli.command import streamlearn
from tests.telemetry import examples

CURVE = {"sequences": [500.0, 1000.0], "accuracy": [0.2, 0.9]}


@pytest.fixture
def status():
    about = {"version": "0", "model": "np", "learner": "adf"}
    drift = Drift(700, "error", "adwin", 0.1, 0.6)
    status = Status(about, lambda: CURVE, lambda: [drift])
    labels = {"NP": LabelScore(1.0, 0.5, 2 / 3, 4), "[red]VP": LabelScore(0.5, 0.5, 0.5, 2)}
    for event in (
        StateChanged("running"),
        examples.polled(12),
        examples.learned(labels=labels),
        examples.rejected(),
    ):
        status(event)
    return status


def drawn(status, width=120, note=""):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(Board(status, note))
    return console.file.getvalue()


def test_it_shows_what_the_status_page_shows(status):
    text = drawn(status.snapshot())
    for words in ("np (adf) running", "75.0 %", "1,002", "66.7 %", "[red]VP", "orders[0]", "and 2 more",
                  "drift at 700", "0.100 → 0.600", "rejected, length", "1,000 sequences"):  # fmt: skip
        assert words in text, text


@pytest.mark.parametrize("width", [50, 80, 200])
def test_it_fits_terminals_of_any_width(status, width):
    assert max(map(len, drawn(status.snapshot(), width).splitlines())) <= width


def test_a_daemon_that_has_learned_nothing_is_shown_too():
    status = Status({"version": "0", "model": "np", "learner": "adf"}, lambda: {"sequences": []}, list)
    text = drawn(status.snapshot(), note="no answer: timed out")
    assert "starting no broker" in text
    assert "nothing learned yet" in text
    assert "no answer: timed out" in text


def colours(status):
    console = Console(file=io.StringIO(), width=120, force_terminal=True, color_system="standard")
    console.print(Board(status))
    return console.file.getvalue().splitlines()[0]


GREEN, YELLOW, RED = "\x1b[32m", "\x1b[33m", "\x1b[31m"


def test_the_state_has_the_colour_of_the_worst_alarm(status):
    for _ in range(9):
        status(examples.rejected())
    assert YELLOW + "running" in colours(status.snapshot())
    status(examples.failed())
    assert RED + "running" in colours(status.snapshot())
    text = drawn(status.snapshot())
    assert "critical: the last checkpoint failed: no space left on device" in text
    assert "warning: 17 % of the records" in text
    healthy = status.snapshot() | {"alarms": []}
    assert GREEN + "running" in colours(healthy)


def test_of_a_daemon_that_does_not_answer_any_more_nothing_is_green_and_little_is_known(status):
    shown = without_answer(status.snapshot(), 0.0)
    assert RED + "no answer" in colours(shown)
    text = drawn(shown)
    assert "running" not in text
    assert "no broker" not in text
    assert {at["lag"] for at in shown["partitions"]} == {None}
    assert shown["sequences_per_second"] is None


@pytest.mark.parametrize("suffix", ["", "/", "/metrics"])
def test_the_command_looks_once_at_a_running_daemon(status, suffix):
    with Server("127.0.0.1", 0, CollectorRegistry(), Health(), status.snapshot) as server:
        done = streamlearn("top", server.url + suffix, "--once")
    assert done.returncode == 0, done.stderr
    assert b"np (adf)" in done.stdout


def test_where_no_daemon_answers_it_says_so_in_one_line():
    done = streamlearn("top", "127.0.0.1:1", "--once")
    assert done.returncode == 64
    assert done.stderr.count(b"\n") == 1
    assert b"no daemon answers: connection refused; use the URL" in done.stderr
