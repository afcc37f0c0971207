"""Labelled sequences as text: JSON Lines and column files, as `predict` prints them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError
from streamlearn.stream.codec import encode

_BREAKS_A_ROW = re.compile(r"[\t\r\n]")


def to_json_line(example: Example, predicted: Sequence[str]) -> str:
    r"""Give the sequence as one line of JSON, with the predicted labels as its labels.

    Examples
    --------
    >>> to_json_line(Example({"w": ["New", "York"]}), ["B", "I"])
    '{"columns":{"w":["New","York"]},"labels":["B","I"]}\n'
    """
    return encode(replace(example, labels=list(predicted)), "json").decode() + "\n"


def to_columns(example: Example, predicted: Sequence[str]) -> str:
    r"""Give the sequence as rows of a column file: its columns, its labels if any, the predicted label.

    Tabs separate the fields and a blank line ends the sequence: what CRF++ prints and conlleval reads (``-d``
    with a tab).

    Raises
    ------
    RecordError : TYPE; a value is empty or holds a tab or a line break, which rows cannot carry.

    Examples
    --------
    >>> to_columns(Example({"w": ["New", "York"]}, labels=["B", "I"]), ["B", "O"])
    'New\tB\tB\nYork\tI\tO\n\n'
    """
    fields = list(example.columns.items())
    if example.labels is not None:
        fields.append(("labels", example.labels))
    fields.append(("the prediction", list(predicted)))
    for name, values in fields:
        _check_values(name, values)
    rows = zip(*(values for _, values in fields), strict=True)
    return "".join("\t".join(row) + "\n" for row in rows) + "\n"


def _check_values(name: str, values: list[str]) -> None:
    for t, value in enumerate(values):
        if not value or _BREAKS_A_ROW.search(value):
            raise RecordError(
                Reason.TYPE, f"{name}[{t}] is {value[:40]!r}: no column file can hold it, write JSON Lines"
            )
