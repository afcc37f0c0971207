import io
import logging
from collections.abc import Iterator

import numpy as np
import pytest
from rich.console import Console

from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.demo.chart import chart
from streamlearn.demo.totals import Totals
from streamlearn.demo.view import LiveView, Scene, fits
from streamlearn.errors import Reason
from streamlearn.events import CheckpointDone, Learned, Polled, Rejected, StateChanged


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def learned(sequences: int, mistakes: int) -> Learned:
    return Learned(
        sequences=sequences, tokens=8 * sequences, sequence_mistakes=0, token_mistakes=mistakes, updates=0,
        loss=0.0, lengths=[8] * sequences, decode_seconds=0.0, learn_seconds=0.0, progressive={}, gauges={},
        sequences_seen=sequences,
    )  # fmt: skip


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tally(clock: Clock) -> Totals:
    tally = Totals(change_at=2000, clock=clock)
    tally(StateChanged("running"))
    for step in range(40):
        clock.now += 0.1
        tally(learned(100, 80 if step < 20 else 400))
    partition = TopicPartition("t", 0)
    tally(Polled({}, {}, {}, {partition: PartitionStatus(10, 1244, 1234)}, True))
    tally(Rejected("t", 0, 5, Reason.SYNTAX, "bad"))
    tally(CheckpointDone("written", 1, 412_000, 0.0, 0.0, 0))
    clock.now += 2
    return tally


def drawn(view: LiveView, width: int = 80, height: int = 24) -> list[str]:
    console = Console(width=width, height=height, file=io.StringIO(), record=True, force_terminal=True)
    console.print(view)
    return console.export_text().splitlines()


def make_view(tally: Totals, scene: Scene) -> LiveView:
    return LiveView(tally, scene, Console(file=io.StringIO(), width=80, height=24))


def test_the_view_shows_every_figure_at_80_columns(tally: Totals) -> None:
    scene = Scene(
        "learning", "1,000 sequences/s", "http://127.0.0.1:9464/metrics", span=4000, best=(0.9, 0.9)
    )
    lines = drawn(make_view(tally, scene))
    text = "\n".join(lines)
    for wanted in (
        "learning", "http://127.0.0.1:9464/metrics", "4,000 sequences, 32,000 tokens in 6 s",
        "lag 1,234 records", "1 rejected", "1 checkpoint, the last 412 kB, 2 s ago",
        "50.0 % of the last 1,000", "70.0 % of all", "▲ 2,000", "Ctrl-C stops", "best possible",
    ):  # fmt: skip
        assert wanted in text
    assert {len(line) for line in lines} == {80}
    assert len(lines) <= 24


def test_the_speed_is_that_of_late_and_the_average_once_ended(tally: Totals, clock: Clock) -> None:
    # Ten batches a second until two seconds ago, seen through a window of three seconds.
    assert tally.speed()[0] == pytest.approx(1000 / 3, rel=0.2)
    clock.now += 60
    assert tally.speed() == (0, 0)
    tally(StateChanged("stopping"))
    assert tally.speed()[0] == pytest.approx(4000 / 66)


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (60, 10), (30, 5)])
def test_nothing_seen_yet_can_be_drawn_at_any_size(size: tuple[int, int]) -> None:
    lines = drawn(make_view(Totals(change_at=0), Scene()), *size)
    assert "loading" in lines[0] or size[0] < 60
    assert "no checkpoint yet" in "\n".join(lines) or size[0] < 60


def test_a_longer_run_than_expected_still_fits(tally: Totals) -> None:
    assert "4,000 sequences │" in "\n".join(drawn(make_view(tally, Scene(span=100, best=(0.5, 0.6)))))


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
    tally: Totals, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = Scene()
    with make_view(tally, scene) as view:
        logging.getLogger("other").info("chatter")
        assert scene.notice == ""
        logging.getLogger("other").warning("disk\nfull")
        assert "disk full" in "\n".join(drawn(view))
    assert capsys.readouterr().err == ""


def test_a_stop_that_must_wait_for_a_step_is_acknowledged() -> None:
    scene = Scene(phase="compiling", asked=lambda: True)
    assert "stopping after this step: compiling" in drawn(make_view(Totals(0), scene))[0]


def test_only_a_capable_terminal_gets_the_view() -> None:
    assert not fits(Console(file=io.StringIO()))
    assert not fits(Console(file=io.TextIOWrapper(io.BytesIO(), "latin-1"), force_terminal=True))
    assert fits(Console(file=io.TextIOWrapper(io.BytesIO(), "utf-8"), force_terminal=True, _environ={}))


def test_a_rising_line_is_joined_and_gaps_are_not() -> None:
    values = np.array([0.0, 0.99, np.nan, np.nan, 0.5, 0.5])
    lines = [line.plain for line in chart(values, 2, mark=None, guides={})]
    assert lines == ["100 % │⢸  ", "  0 % │⡸ ⠉"]
