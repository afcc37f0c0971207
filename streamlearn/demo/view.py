"""The live view of the demo in a terminal."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from streamlearn.demo.chart import GUIDE, GUTTER, LINE, MARK, chart
from streamlearn.demo.totals import WINDOW, Totals

_LEAST_WIDTH, _MOST_WIDTH = 60, 120
_LEAST_CHART, _MOST_CHART = 3, 18
# Lines of the view that are not the chart.
_FRAME = 14
# Lines that follow the last picture: what came of it, and the prompt.
_CLOSING = 5
_RESTORE = "\x1b[?1049l\x1b[?25h"


def fits(console: Console) -> bool:
    """Tell whether the console can show the view: a terminal that moves its cursor and draws braille."""
    return console.is_terminal and not console.is_dumb_terminal and console.encoding.startswith("utf")


@dataclass(slots=True)
class Scene:
    """What the view shows beside the figures.

    Attributes
    ----------
    phase : what is going on, in words.
    about : one line on what feeds what.
    url, url_note : of the metrics, and what is to be said of it.
    span : sequences that the run is expected to have at the least: the width of the chart.
    best : the best possible accuracy before and after the change.
    notice : the newest warning.
    asked : tells whether a stop was asked for.
    """

    phase: str = "loading"
    about: str = ""
    url: str = ""
    url_note: str = ""
    span: int = 1
    best: tuple[float, float] | None = None
    notice: str = ""
    asked: Callable[[], bool] = lambda: False


class LiveView:
    """Redraws a few times a second while a ``with`` block runs; the last picture stays.

    Parameters
    ----------
    tally : the figures.
    scene : all else; may be changed at any time.
    console : where to draw, see `fits`.
    """

    def __init__(self, tally: Totals, scene: Scene, console: Console) -> None:
        self._tally = tally
        self._scene = scene
        self._console = console
        self._spinner = Spinner("dots", style="green")
        self._live = Live(self, console=console, screen=True, refresh_per_second=8)
        self._handler = _Notices(scene)

    def __enter__(self) -> Self:
        # A log line in the midst of the picture would tear it.
        logging.basicConfig(level=logging.WARNING, handlers=[self._handler], force=True)
        logging.getLogger("kafka").setLevel(logging.ERROR)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        if self._tally.sequences:
            self._console.print(self)

    def abandon(self) -> None:
        """Give the terminal back without waiting for anything: the process is about to end."""
        with suppress(OSError, RuntimeError):
            self._console.file.write(_RESTORE)
            self._console.file.flush()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw."""
        width = min(options.max_width, _MOST_WIDTH)
        room = console.height - _FRAME - (0 if self._live.is_started else _CLOSING)
        height = min(max(room, _LEAST_CHART), _MOST_CHART)
        yield Panel(
            Group(
                Text(self._scene.about or " ", "dim", no_wrap=True, overflow="ellipsis"),
                "",
                self._headline(),
                *self._chart(max(width, _LEAST_WIDTH) - 4 - GUTTER, height),
                "",
                self._figures(),
                Text(self._scene.notice or " ", "red", no_wrap=True, overflow="ellipsis"),
            ),
            title=self._title(),
            title_align="left",
            subtitle=Text(" Ctrl-C stops ", "bold") if self._tally.state != "stopped" else None,
            subtitle_align="right",
            border_style="dim",
            padding=(0, 1),
            width=width,
        )

    def _title(self) -> Text:
        busy = self._tally.state not in ("stopped", "failed")
        sign = self._spinning() if busy else Text("■", "green")
        phase = self._scene.phase
        if busy and self._scene.asked() and not phase.startswith("stop"):
            phase = f"stopping after this step: {phase}"
        return Text.assemble(" streamlearn demo  ", sign, f" {phase} ", style="bold not dim")

    def _spinning(self) -> Text:
        frame = self._spinner.render(self._console.get_time())
        return frame if isinstance(frame, Text) else Text(str(frame))

    def _headline(self) -> Text:
        late, lifetime = self._tally.late_accuracy, self._tally.curve.accuracy(0, self._tally.sequences)
        return Text.assemble(
            "progressive accuracy  ",
            (_percent(late), LINE),
            f" of the last {WINDOW:,} sequences, ",
            (_percent(lifetime), "bold"),
            " of all",
            no_wrap=True,
            overflow="ellipsis",
        )

    def _chart(self, width: int, height: int) -> Sequence[Text]:
        tally, best = self._tally, self._scene.best
        span = max(self._scene.span, tally.sequences, 1)
        change = int(tally.change_at / span * width)
        mark = change if change < width and best else None
        guides = {range(change): best[0], range(change, width): best[1]} if best else {}
        values = tally.curve.between(np.linspace(0, span, 2 * width + 1))
        lines = chart(values, height, mark, guides)
        return [*lines, _axis(width, span, tally.change_at, mark), _legend()]

    def _figures(self) -> Table:
        tally = self._tally
        sequences, tokens = tally.speed()
        lag = "–" if tally.lag is None else f"{tally.lag:,}"
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(style="dim", no_wrap=True)
        table.add_column(ratio=1, no_wrap=True)
        rows = (
            ("learned", f"{tally.sequences:,} sequences, {tally.tokens:,} tokens in {tally.seconds:.0f} s"),
            ("speed", f"{sequences:,.0f} sequences/s, {tokens:,.0f} tokens/s"),
            ("stream", f"lag {lag} records, {tally.rejected:,} rejected"),
            ("saved", self._saved()),
            ("metrics", self._scene.url + self._scene.url_note or "–"),
        )
        for name, value in rows:
            table.add_row(name, Text(value, overflow="ellipsis"))
        return table

    def _saved(self) -> str:
        saved = self._tally.saved
        if saved is None:
            return "no checkpoint yet"
        count = f"{self._tally.checkpoints:,} checkpoint{'' if self._tally.checkpoints == 1 else 's'}"
        return f"{count}, the last {_size(saved.size_bytes)}, {self._tally.clock() - saved.at:.0f} s ago"


class _Notices(logging.Handler):
    """Shows the newest warning in the view."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(logging.WARNING)
        self._scene = scene

    def emit(self, record: logging.LogRecord) -> None:
        fields = getattr(record, "fields", {})
        words = [record.getMessage(), *(f"{name}={value}" for name, value in fields.items())]
        self._scene.notice = " ".join(" ".join(words).split())


def _axis(width: int, span: int, change_at: int, mark: int | None) -> Text:
    """Give the line under the chart: 0, the change and the end."""
    line = Text(" " * GUTTER, "dim", no_wrap=True)
    end = f"{span:,} sequences"
    middle = f"▲ {change_at:,}"
    room = width - len(end) - 1
    line.append("0", "dim")
    if mark is not None and mark >= 2 and mark + len(middle) < room:
        line.append(" " * (mark - 1))
        line.append(middle, MARK)
        used = mark + len(middle)
    else:
        used = 1
    line.append(" " * (width - len(end) - used))
    line.append(end, "dim")
    return line


def _legend() -> Text:
    return Text.assemble(
        (" " * GUTTER, ""), ("⠤⠤", LINE), (" learned model   ", "dim"), ("┄┄", GUIDE),
        (" best possible   ", "dim"), ("┊", MARK), (" the world changes", "dim"),
        no_wrap=True, overflow="ellipsis",
    )  # fmt: skip


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:.0f} kB"
