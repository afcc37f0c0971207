import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.corpus.column_layout import ColumnLayout
from streamlearn.corpus.column_reader import ColumnReader
from streamlearn.corpus.prediction_formats import to_columns, to_json_line, to_rejected_line
from streamlearn.corpus.read_report import ReadReport
from streamlearn.data import Alternative, Example, Prediction
from streamlearn.errors import Reason, RecordError
from streamlearn.stream.record_codec import decode

values = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n\0"), min_size=1, max_size=5),
    min_size=3,
    max_size=3,
)


def test_json_lines_hold_the_predicted_labels() -> None:
    example = Example({"w": ["a"]}, ["gold"], id="7", weight=2.0)
    assert decode(to_json_line(example, Prediction(["B"])).encode(), "json") == Example(
        {"w": ["a"]}, ["B"], id="7", weight=2.0
    )


def test_json_lines_hold_what_was_asked_and_nothing_else() -> None:
    alternatives = [Alternative(["é"], 1.5, 0.75), Alternative(["O"], 0.5)]
    assert to_json_line(Example({"w": ["a"]}), Prediction(["é"], alternatives=alternatives)) == (
        '{"columns":{"w":["a"]},"labels":["é"],"alternatives":[{"labels":["é"],"score":1.5,"probability":0.75},'
        '{"labels":["O"],"score":0.5}]}\n'
    )


def test_columns_hold_marginals_before_the_labels() -> None:
    example = Example({"w": ["a", "b"]}, ["O", "B"])
    predicted = Prediction(["O", "I"], [0.5, 1e-7 / 3], 0.25)
    assert to_columns(example, predicted) == "a\t0.5\tO\tO\nb\t3.33333e-08\tB\tI\n\n"


def test_columns_hold_the_labels_and_then_the_predicted_ones() -> None:
    example = Example({"labels": ["a", "b"], "pos": ["X", "Y"]}, ["O", "B"])
    assert to_columns(example, Prediction(["O", "I"])) == "a\tX\tO\tO\nb\tY\tB\tI\n\n"


@given(values, values)
def test_columns_can_be_read_back(words: list[str], labels: list[str]) -> None:
    words[0], labels = "w" + words[0], [f"<{label}>" for label in labels]
    report = ReadReport()
    reader = ColumnReader("f", ColumnLayout(names=("w",)), report)
    rows = [row + "\n" for row in to_columns(Example({"w": words}), Prediction(labels)).split("\n")]
    assert list(reader.read(rows)) == [(1, Example({"w": words}, labels))]


@pytest.mark.parametrize("value", ["", "a\tb", "a\nb", "\r"])
def test_values_that_rows_cannot_hold_are_refused(value: str) -> None:
    with pytest.raises(RecordError, match=r"w\[1\] is .*use JSON Lines"):
        to_columns(Example({"w": ["a", value]}), Prediction(["O", "O"]))


def test_a_record_keeps_all_its_keys_but_those_of_an_earlier_prediction() -> None:
    record = {"id": 7, "tokens": ["a"], "labels": ["gold"], "marginals": [1.0], "more": {"x": None}}
    example = Example({"tokens": ["a"]}, ["gold"], id="7", record=record)
    assert (
        to_json_line(example, Prediction(["B"]))
        == '{"id":7,"tokens":["a"],"labels":["B"],"more":{"x":null}}\n'
    )
    error = RecordError(Reason.MISSING_COLUMN, "f:1: no column 'w'")
    assert to_rejected_line(error, example) == (
        '{"id":7,"tokens":["a"],"more":{"x":null},"rejected":{"reason":"missing_column","message":'
        "\"f:1: no column 'w'\"}}\n"
    )


def test_a_number_that_json_cannot_repeat_is_refused() -> None:
    with pytest.raises(RecordError, match="too large to be written again"):
        to_json_line(Example({"w": ["a"]}, record={"more": float("inf")}), Prediction(["B"]))
