"""The picture of `streamlearn top`: what a daemon's status page shows, in a terminal."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from rich.bar import Bar
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

Status = dict[str, Any]

_FRAME = 6
_HEIGHT = 10
_COLOURS = {"running": "green", "failed": "red"}


class Board:
    """Draws one status; `note` says what is wrong with the connection to the daemon."""

    def __init__(self, status: Status, note: str = "") -> None:
        self._status = status
        self._note = note

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw."""
        yield Panel(
            Group(
                self._figures(),
                "",
                *self._curve(max(options.max_width, 40)),
                "",
                Columns([self._labels(), self._partitions(), self._events()], padding=(0, 4)),
                Text(self._note, "red"),
            ),
            title=self._title(),
            title_align="left",
            subtitle=Text(" Ctrl-C leaves ", "dim"),
            subtitle_align="right",
            border_style="dim",
            padding=(0, 1),
        )

    def _title(self) -> Text:
        about, state = self._status["about"], self._status["state"]
        broker = ("", "") if self._status["connected"] else ("no broker ", "yellow")
        name = f" {about['model']} ({about['learner']}) "
        return Text.assemble((name, "bold"), (f"{state} ", _COLOURS.get(state, "yellow")), broker)

    def _figures(self) -> Table:
        status, scores = self._status, self._status["progressive"]
        lags = [at["lag"] for at in status["partitions"] if at["lag"] is not None]
        saved = status["checkpoint"]
        table = Table.grid(padding=(0, 3))
        pairs = (
            ("tokens right", _percent(scores.get("accuracy/token/recent"))),
            ("of all", _percent(scores.get("accuracy/token/lifetime"))),
            ("F1", _percent(scores.get("f1/micro/recent"))),
            ("sequences", f"{status['sequences_seen']:,}"),
            ("a second", f"{status['sequences_per_second']:,.0f}"),
            ("lag", f"{sum(lags):,}" if lags else "–"),
            ("saved", f"{status['now'] - saved['time']:,.0f} s ago" if saved else "–"),
        )
        table.add_row(*(Text(name, "dim") for name, _ in pairs))
        table.add_row(*(Text(value, "bold") for _, value in pairs))
        return table

    def _curve(self, width: int) -> Sequence[RenderableType]:
        from streamlearn.demo.chart import GUTTER, chart

        curve = self._status["curve"]
        if len(curve["sequences"]) < 2:
            return [Text("nothing learned yet", "dim")]
        columns = width - _FRAME - GUTTER
        ends, end = curve["sequences"], curve["sequences"][-1]
        dots = [end * (dot + 1) / (2 * columns) for dot in range(2 * columns)]
        values = [curve["accuracy"][min(bisect_left(ends, dot), len(ends) - 1)] for dot in dots]
        drifts = self._status["drifts"]
        mark = min(int(drifts[-1]["sequence"] / end * columns), columns - 1) if drifts else None
        axis = f"{'0':<{columns // 2}}{f'{end:,.0f} sequences':>{columns - columns // 2}}"
        return [*chart(values, _HEIGHT, mark, {}), Text(" " * GUTTER + axis, "dim", no_wrap=True)]

    def _labels(self) -> Table:
        table = Table("label", "F1", "", "gold", box=None, padding=(0, 1), header_style="dim")
        for name, score in self._status["labels"].items():
            bar = Bar(1.0, 0.0, score["f1"], width=16, color="green")
            table.add_row(Text(name[:20]), bar, _percent(score["f1"]), f"{score['support']:,}")
        return table

    def _partitions(self) -> Table:
        table = Table("partition", "lag", "next offset", box=None, padding=(0, 1), header_style="dim")
        rows = sorted(self._status["partitions"], key=lambda at: -(at["lag"] or 0))
        for at in rows[:10]:
            lag = "–" if at["lag"] is None else f"{at['lag']:,}"
            table.add_row(Text(f"{at['topic']}[{at['partition']}]"), lag, f"{at['position']:,}")
        if rows[10:]:
            table.add_row(Text(f"and {len(rows) - 10} more", "dim"), "", "")
        return table

    def _events(self) -> Table:
        table = Table("of late", "", box=None, padding=(0, 1), header_style="dim")
        for drift in self._status["drifts"][-4:]:
            text = f"{drift['signal']} {drift['before']:.3f} → {drift['after']:.3f}"
            table.add_row(Text(f"drift at {drift['sequence']:,}", "magenta"), text)
        for reason, count in self._status["rejected_by_reason"].items():
            table.add_row(Text(f"rejected, {reason}", "yellow"), f"{count:,}")
        if self._status["checkpoint_failure"]:
            table.add_row(Text("checkpoint failed", "red"), Text(self._status["checkpoint_failure"]))
        return table


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"
