import pytest

from streamlearn.terminal.accuracy_chart import Annotations, accuracy_chart

CURVE = {"sequences": [500.0, 1000.0], "accuracy": [0.2, 0.9]}
WIDTH = 60


def drawn(curve, shown, height=6):
    return [line.plain for line in accuracy_chart(curve, WIDTH, height, shown)]


def test_the_axis_ends_at_the_last_sequence_or_at_the_expected_one():
    assert drawn(CURVE, Annotations())[6].endswith(" 1,000 sequences")
    lines = drawn(CURVE, Annotations(span=4000))
    assert lines[6].endswith(" 4,000 sequences")
    right = [line[WIDTH // 2 :] for line in lines[:6]]
    assert set("".join(right)) == {" "}, "what is not learned yet has no curve"


def test_a_longer_stream_than_expected_still_fits():
    lines = drawn(CURVE, Annotations(span=100))
    assert lines[6].endswith(" 1,000 sequences")
    assert {len(line) for line in lines[:7]} == {WIDTH}


def test_a_mark_and_levels_are_drawn_and_explained():
    shown = Annotations(2000, 1100, "distribution shift", {0: 0.9, 1100: 0.5}, "best possible")
    lines = drawn(CURVE, shown)
    assert "┊" in lines[0]
    assert "▲ 1,100" in lines[6]
    assert "best possible" in lines[7]
    assert "distribution shift" in lines[7]
    assert lines[3].count("┄") > 15, "the second level, to the right of the mark"


@pytest.mark.parametrize("mark", [0, 1000, 5000])
def test_a_mark_at_the_edges_or_outside_of_the_axis_is_no_error(mark):
    lines = drawn(CURVE, Annotations(mark=mark, mark_label="last drift"))
    assert ("last drift" in lines[7]) == (mark <= 1000)


def test_unknown_values_are_gaps():
    curve = {"sequences": [500.0, 1000.0], "accuracy": [None, 0.9]}
    line = drawn(curve, Annotations())[0][7:]
    assert line.startswith(" " * 20)
    assert line.endswith("⠤" * 20)


def test_a_single_interval_is_drawn():
    lines = drawn({"sequences": [1500.0], "accuracy": [0.9]}, Annotations())
    assert lines[0][7:].strip() == "⠤" * (WIDTH - 7)
    assert lines[6].endswith(" 1,500 sequences")


def test_before_anything_is_learned_there_is_a_text_or_an_empty_chart():
    nothing = {"sequences": [], "accuracy": []}
    assert drawn(nothing, Annotations()) == ["nothing learned yet"]
    assert len(drawn({"sequences": []}, Annotations(span=100))) == 8
