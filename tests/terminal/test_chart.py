import math

from streamlearn.terminal.chart import chart


def test_a_rising_line_is_joined_and_gaps_are_not():
    values = [0.0, 0.99, math.nan, math.nan, 0.5, 0.5]
    lines = [line.plain for line in chart(values, 2, mark=None, guides={})]
    assert lines == ["100 % │⢸  ", "  0 % │⡸ ⠉"]
