"""The learning curve as lines of text: accuracy over sequences, with an axis and a legend."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rich.text import Text

from streamlearn.terminal.chart import AXIS, GUIDE, GUTTER, LINE, MARK, chart


@dataclass(frozen=True, slots=True)
class Annotations:
    """What the chart shows in addition to the curve.

    Attributes
    ----------
    span : minimum number of sequences on the axis; 0 ends the axis at the last sequence learned.
    mark : sequence number with a vertical line, or None.
    mark_label : meaning of the vertical line in the legend.
    levels : from which sequence number on, and at which ratio, to draw a horizontal line.
    level_label : meaning of the horizontal lines in the legend.
    nothing : shown in place of an empty curve.
    """

    span: int = 0
    mark: int | None = None
    mark_label: str = ""
    levels: Mapping[int, float] = field(default_factory=dict)
    level_label: str = ""
    nothing: str = "nothing learned yet"


def accuracy_chart(
    curve: Mapping[str, Sequence[float | None]], width: int, height: int, shown: Annotations
) -> list[Text]:
    """Return `height` lines of chart, the axis and the legend, or one line if there is nothing to draw.

    Parameters
    ----------
    curve : ``sequences`` at the end of each interval and its ``accuracy``, as the status has them.
    width : columns of characters, axis labels included.
    """
    ends, columns = curve["sequences"], width - GUTTER
    end = int(ends[-1] or 0) if ends else 0
    span = max(shown.span, end)
    if not span:
        return [Text(shown.nothing, AXIS)]
    mark = None
    if shown.mark is not None and shown.mark <= span:
        mark = min(int(shown.mark / span * columns), columns - 1)
    edges = [*(min(int(first / span * columns), columns) for first in shown.levels), columns]
    guides = {
        range(*between): ratio for between, ratio in zip(pairwise(edges), shown.levels.values(), strict=True)
    }
    lines = chart(_resampled(curve, span, 2 * columns), height, mark, guides)
    return [*lines, _axis(columns, span, shown.mark, mark), _legend(shown, mark)]


def _resampled(curve: Mapping[str, Sequence[float | None]], span: int, dots: int) -> list[float]:
    """Return the accuracy at equal distances over the span, NaN after the last sequence learned."""
    ends = [end or 0.0 for end in curve["sequences"]]
    values = []
    for dot in range(1, dots + 1):
        place = bisect_left(ends, span * dot / dots)
        # The last interval reaches into a dot that it does not fill.
        within = place < len(ends) or (ends and span * (dot - 1) / dots < ends[-1])
        value = curve["accuracy"][min(place, len(ends) - 1)] if within else None
        values.append(float("nan") if value is None else value)
    return values


def _axis(columns: int, span: int, number: int | None, mark: int | None) -> Text:
    """Return the numbers below the chart: 0, the mark and the end."""
    line, end = Text(" " * GUTTER, AXIS, no_wrap=True), f"{span:,} sequences"
    line.append("0", AXIS)
    used, label = 1, f"▲ {number or 0:,}"
    if mark is not None and mark >= 2 and mark + len(label) < columns - len(end) - 1:
        line.append(" " * (mark - 1)).append(label, MARK)
        used = mark + len(label)
    return line.append(" " * (columns - len(end) - used)).append(end, AXIS)


def _legend(shown: Annotations, mark: int | None) -> Text:
    entries = [("⠤⠤", LINE, "token accuracy")]
    entries += [("┄┄", GUIDE, shown.level_label)] if shown.levels else []
    entries += [("┊", MARK, shown.mark_label)] if mark is not None else []
    line = Text(" " * GUTTER, no_wrap=True, overflow="ellipsis")
    for sign, style, label in entries:
        line.append(sign, style).append(f" {label}   ", AXIS)
    return line
