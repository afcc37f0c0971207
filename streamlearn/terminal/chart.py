"""A line chart as text: braille dots, two columns and four rows per character."""

import math
from collections.abc import Mapping, Sequence

from rich.text import Text

_BLANK = 0x2800
# Bits of the dots of one character, [row from the top][column].
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_LEVELS = ((0.5, "50 %"), (0, "100 %"), (1, "0 %"))
GUTTER = 7

LINE, MARK, GUIDE, AXIS = "bold green", "bold magenta", "cyan", "dim"


def chart(
    values: Sequence[float], height: int, mark: int | None, guides: Mapping[range, float]
) -> list[Text]:
    """Draw ratios 0-1 as `height` lines of text with an axis at the left.

    Parameters
    ----------
    values : two per column of characters; NaN is not drawn.
    mark : column with a vertical line, or None.
    guides : horizontal lines: their columns, and the ratio that they show.
    """
    lines = []
    labels = {round(place * (height - 1)): label for place, label in _LEVELS}
    cells = _braille(values, height)
    guide_rows = {x: _row(ratio, height) for columns, ratio in guides.items() for x in columns}
    for y, row in enumerate(cells):
        line = Text(f"{labels.get(y, ''):>{GUTTER - 2}} │", AXIS, no_wrap=True)
        for x, cell in enumerate(row):
            if cell != _BLANK:
                line.append(chr(cell), LINE)
            elif x == mark:
                line.append("┊", MARK)
            elif guide_rows.get(x) == y:
                line.append("┄", GUIDE)
            else:
                line.append(" ")
        lines.append(line)
    return lines


def _row(ratio: float, height: int) -> int:
    return min(int((1.0 - ratio) * height), height - 1)


def _braille(values: Sequence[float], height: int) -> Sequence[Sequence[int]]:
    """Return code points[height][width]; a vertical stroke joins each value to the one before."""
    cells = [[_BLANK] * (len(values) // 2) for _ in range(height)]
    before = None
    for column, value in enumerate(values):
        if math.isnan(value):
            before = None
            continue
        dot = min(int((1.0 - value) * 4 * height), 4 * height - 1)
        start = dot if before is None else before + (dot > before) - (dot < before)
        for each in range(min(start, dot), max(start, dot) + 1):
            cells[each // 4][column // 2] |= _DOTS[each % 4][column % 2]
        before = dot
    return cells
