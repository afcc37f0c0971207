import io
import logging
from collections.abc import Iterator

import pytest
from rich.console import Console

from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.demo.summary import Summary
from streamlearn.demo.view import LiveView, ViewState, fits
from streamlearn.errors import Reason
from streamlearn.events import CheckpointDone, LabelScore, Learned, Polled, Rejected, StateChanged
from streamlearn.monitor.history import History
from streamlearn.telemetry.status import Status
from tests.telemetry import examples


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def learned(sequences: int, mistakes: int, seen: int) -> Learned:
    return examples.learned(
        sequences=sequences, tokens=8 * sequences, sequence_mistakes=sequences, token_mistakes=mistakes,
        progressive={"accuracy/token/recent": 0.5, "accuracy/token/lifetime": 0.7}, sequences_seen=seen,
        labels={f"y{y}": LabelScore(0.5, 0.5, 0.5, 3) for y in range(7)},
    )  # fmt: skip


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def summary(clock: Clock) -> Summary:
    return Summary(change_at=2000, clock=clock)


@pytest.fixture
def status(clock: Clock, summary: Summary) -> Status:
    """Return the status after 40 batches, of which the last 20 have half of the tokens wrong."""
    history = History()
    about = {"version": "0", "model": "hmm-demo", "learner": "perceptron"}
    status = Status(about, lambda: history.curve(160), list, clock=clock)
    partition = TopicPartition("hmm-demo", 0)
    batches = [learned(100, 80 if n < 20 else 400, 100 * (n + 1)) for n in range(40)]
    for event in (
        StateChanged("running"),
        *batches,
        Polled({}, {}, {}, {partition: PartitionStatus(10, 1244, 1234)}, True),
        Rejected("hmm-demo", 0, 5, Reason.SYNTAX, "bad"),
        CheckpointDone("written", 1, 4000, 412_000, 0.0, 0.0, 0),
    ):
        clock.now += 0.1 if isinstance(event, Learned) else 0.0
        for observer in (history, status, summary):
            observer(event)
    clock.now += 2
    return status


def drawn(view: LiveView, width: int = 80, height: int = 24) -> list[str]:
    console = Console(width=width, height=height, file=io.StringIO(), record=True, force_terminal=True)
    console.print(view)
    return console.export_text().splitlines()


def make_view(state: ViewState) -> LiveView:
    return LiveView(state, Console(file=io.StringIO(), width=80, height=24))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_the_view_shows_status_and_shift(status: Status, size: tuple[int, int]) -> None:
    state = ViewState(
        "learning", "1,000 sequences/s", "http://127.0.0.1:9464/metrics", " (port 1 is taken)",
        change_at=2000, span=4000, best=(0.9, 0.9), status=status,
    )  # fmt: skip
    lines = drawn(make_view(state), *size)
    text = "\n".join(lines)
    for wanted in (
        "learning", "1,000 sequences/s", "http://127.0.0.1:9464/metrics (port 1 is taken)", "50.0 %",
        "70.0 %", "4,000", "1,234", "2 s ago", "▲ 2,000", "distribution shift",
        "best possible", "Ctrl-C stops",
    ):  # fmt: skip
        assert wanted in text, text
    assert ("y0" in text) == (size[1] > 24), "tables are shown where the chart leaves room"
    assert {len(line) for line in lines} == {size[0]}
    assert len(lines) <= size[1]


def test_the_summary_scores_before_and_after_the_shift(status: Status, summary: Summary) -> None:
    status(StateChanged("stopping"))
    summary(StateChanged("stopping"))
    assert summary.figures() == {
        "sequences": 4000,
        "tokens": 32_000,
        "seconds": 6.0,
        "sequences_per_second": 666.7,
        "tokens_per_second": 5333.3,
        "change_at": 2000,
        "accuracy_window": 1000,
        "accuracy_before_change": pytest.approx(0.9),
        "accuracy_after_change": pytest.approx(0.5),
        "accuracy_at_end": pytest.approx(0.5),
        "accuracy_lifetime": pytest.approx(0.7),
        "checkpoints": 1,
        "lag": 1234,
        "rejected": 1,
    }


def test_a_run_that_learned_nothing_has_a_summary_too(summary: Summary) -> None:
    figures = summary.figures()
    assert figures["sequences"] == 0
    assert figures["accuracy_lifetime"] is None


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (60, 10), (30, 5)])
def test_nothing_seen_yet_can_be_drawn_at_any_size(size: tuple[int, int]) -> None:
    lines = drawn(make_view(ViewState()), *size)
    assert "loading" in lines[0] or size[0] < 60
    assert "none yet" in "\n".join(lines) or size[0] < 60


@pytest.fixture
def root_logger() -> Iterator[None]:
    root, kafka = logging.getLogger(), logging.getLogger("kafka")
    before, level, kafka_level = root.handlers[:], root.level, kafka.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    kafka.setLevel(kafka_level)


@pytest.mark.usefixtures("root_logger")
def test_warnings_go_into_the_view_and_nothing_else_is_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = ViewState()
    with make_view(state) as view:
        logging.getLogger("other").info("chatter")
        assert state.warning == ""
        logging.getLogger("other").warning("disk\nfull")
        assert "disk full" in "\n".join(drawn(view))
    assert capsys.readouterr().err == ""


def test_a_stop_that_must_wait_for_a_step_is_acknowledged() -> None:
    state = ViewState(phase="compiling", asked=lambda: True)
    assert "stopping after this step: compiling" in drawn(make_view(state))[0]


def test_only_a_capable_terminal_gets_the_view() -> None:
    assert not fits(Console(file=io.StringIO()))
    assert not fits(Console(file=io.TextIOWrapper(io.BytesIO(), "latin-1"), force_terminal=True))
    assert fits(Console(file=io.TextIOWrapper(io.BytesIO(), "utf-8"), force_terminal=True, _environ={}))
