"""The picture of a daemon's status in a terminal, for `streamlearn top` and `streamlearn demo`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.bar import Bar
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from streamlearn.terminal.accuracy_chart import Annotations, accuracy_chart
from streamlearn.terminal.chart import LINE

Snapshot = dict[str, Any]

_LEAST_WIDTH, _MOST_WIDTH = 40, 160
# Columns of the border and its padding.
_FRAME = 4
_LEAST_CHART, _USUAL_CHART, _MOST_CHART = 3, 10, 18
# Rows of the chart that tables may not take.
_CHART_FIRST = 8
# Rows that are neither chart nor tables: border, figures, axis, legend, note and two blank lines.
_OTHER_ROWS = 9
_COLOURS = {"running": "green", "failed": "red", "no answer": "red"}
_ALARMS = {"critical": "red", "warning": "yellow", "info": "magenta"}
_MOST_PARTITIONS, _MOST_DRIFTS = 10, 4


@dataclass(frozen=True)
class Board:
    """Draws one status.

    Attributes
    ----------
    status : as `Status.snapshot` returns it, or ``/status.json`` serves it.
    note : a warning below everything else.
    title, hint : in the upper and the lower border.
    header : lines above the figures.
    annotations : of the chart; by default the last drift is marked.
    height : maximum number of rows; None is unlimited.
    """

    status: Snapshot
    note: str = ""
    title: Text | None = None
    hint: str = "Ctrl-C leaves"
    header: Sequence[str] = ()
    annotations: Annotations | None = None
    height: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw; the chart takes the rows that the tables leave, and tables are cut where it needs them."""
        width = min(max(options.max_width, _LEAST_WIDTH), _MOST_WIDTH)
        inner = width - _FRAME
        inside = options.update(width=inner)
        rows = console.render_lines(Columns([*self._tables()], padding=(0, 2)), inside, pad=False)
        alarms = (
            console.render_lines(Group(*self._alarms()), inside, pad=False) if self.status["alarms"] else []
        )
        chart_rows = _USUAL_CHART
        if self.height:
            room = self.height - _OTHER_ROWS - len(self.header) - len(alarms)
            chart_rows = min(max(room - len(rows), min(room, _CHART_FIRST), _LEAST_CHART), _MOST_CHART)
            rows = rows[: max(0, room - chart_rows)]
        yield Panel(
            Group(
                *(Text(line, "dim", no_wrap=True, overflow="ellipsis") for line in self.header),
                *_segments(alarms),
                self._figures(),
                "",
                *accuracy_chart(self.status["curve"], inner, chart_rows, self.annotations or self._drift()),
                "",
                *_segments(rows),
                Text(self.note or " ", "red", no_wrap=True, overflow="ellipsis"),
            ),
            title=self.title or self._title(),
            title_align="left",
            subtitle=Text(f" {self.hint} ", "dim") if self.hint else None,
            subtitle_align="right",
            border_style="dim",
            padding=(0, 1),
            width=width,
        )

    def _title(self) -> Text:
        about, state = self.status["about"], self.status["state"]
        broker = ("no broker ", "yellow not dim") if self.status["connected"] is False else ("", "")
        name = f" {about['model']} ({about['learner']}) "
        # The worst comes first; without any, the state decides.
        severities = [alarm["severity"] for alarm in self.status["alarms"] if alarm["severity"] != "info"]
        colour = _ALARMS[severities[0]] if severities else _COLOURS.get(state, "yellow")
        return Text.assemble((name, "bold"), (f"{state} ", f"{colour} not dim"), broker)

    def _alarms(self) -> Iterator[Text]:
        for alarm in self.status["alarms"]:
            yield Text(f"{alarm['severity']}: ", _ALARMS[alarm["severity"]]).append(alarm["text"], "default")

    def _drift(self) -> Annotations:
        drifts = self.status["drifts"]
        nothing = "no curve in the checkpoint" if self.status["sequences_seen"] else "nothing learned yet"
        mark = drifts[-1]["sequence"] if drifts else None
        return Annotations(mark=mark, mark_label="last drift", nothing=nothing)

    def _figures(self) -> Table:
        status, scores = self.status, self.status["progressive"]
        lags = [at["lag"] for at in status["partitions"] if at["lag"] is not None]
        saved, f1 = status["checkpoint"], scores.get("f1/micro/recent")
        speed = status["sequences_per_second"]
        figures = {
            "accuracy": percent(scores.get("accuracy/token/recent")),
            "lifetime": percent(scores.get("accuracy/token/lifetime")),
            **({"F1": percent(f1)} if f1 is not None else {}),
            "sequences": f"{status['sequences_seen']:,}",
            "per second": "–" if speed is None else f"{speed:,.0f}",
            # Of some partitions it may be unknown.
            "lag": f"{'≥ ' * (len(lags) < len(status['partitions']))}{sum(lags):,}" if lags else "–",
            "checkpoint": f"{status['now'] - saved['time']:,.0f} s ago" if saved else "none yet",
        }
        table = Table.grid(padding=(0, 3))
        table.add_row(*(Text(name, "dim") for name in figures))
        table.add_row(
            *(Text(value, "bold" if number else LINE) for number, value in enumerate(figures.values()))
        )
        return table

    def _tables(self) -> Iterator[RenderableType]:
        for table in (self._labels(), self._partitions(), self._events()):
            if table.row_count:
                yield table

    def _labels(self) -> Table:
        table = _table("label", "F1", "", "gold")
        rows = [(Text(name[:20]), score) for name, score in self.status["labels"].items()]
        others = self.status["other_labels"]
        # Set off by its style: a label may have any name.
        for name, score in [*rows, *([(Text("all others", "dim italic"), others)] if others else [])]:
            bar = Bar(1.0, 0.0, score["f1"], width=16, color="green")
            table.add_row(name, bar, percent(score["f1"]), f"{score['support']:,}")
        return table

    def _partitions(self) -> Table:
        table = _table("partition", "lag", "next offset")
        rows = sorted(self.status["partitions"], key=lambda at: -(at["lag"] or 0))
        for at in rows[:_MOST_PARTITIONS]:
            unknown = "–" if at.get("has_leader", True) else "no leader"
            lag = unknown if at["lag"] is None else f"{at['lag']:,}"
            table.add_row(Text(f"{at['topic']}[{at['partition']}]"), lag, f"{at['position']:,}")
        if rows[_MOST_PARTITIONS:]:
            table.add_row(Text(f"and {len(rows) - _MOST_PARTITIONS} more", "dim"), "", "")
        return table

    def _events(self) -> Table:
        table = _table("recent events", "")
        for drift in self.status["drifts"][-_MOST_DRIFTS:]:
            text = f"{drift['signal']} {drift['before']:.3f} → {drift['after']:.3f}"
            table.add_row(Text(f"drift at {drift['sequence']:,}", "magenta"), text)
        for reason, count in self.status["rejected_by_reason"].items():
            table.add_row(Text(f"rejected, {reason}", "yellow"), f"{count:,}")
        return table


def without_answer(status: Snapshot, now: float) -> Snapshot:
    """Return the last status of a daemon that does not answer now: what may have changed is unknown.

    Parameters
    ----------
    now : Unix time.
    """
    unknown = {
        "state": "no answer",
        "connected": True,
        "alarms": [],
        "sequences_per_second": None,
        "now": now,
    }
    return status | unknown | {"partitions": [at | {"lag": None} for at in status["partitions"]]}


def percent(ratio: float | None) -> str:
    """Return a ratio as text, or a dash if it is unknown.

    >>> percent(0.5), percent(None)
    ('50.0 %', '–')
    """
    return "–" if ratio is None else f"{100 * ratio:.1f} %"


def _segments(lines: Sequence[Sequence[Segment]]) -> Iterator[Segments]:
    """Yield lines that are drawn already."""
    for line in lines:
        yield Segments([*line, Segment.line()])


def _table(*heads: str) -> Table:
    return Table(*heads, box=None, padding=(0, 1), header_style="dim")
