"""Labelled sequences as text: JSON Lines and column files, as `predict` prints them."""

import json
import re
from dataclasses import asdict, replace
from typing import Any

from streamlearn.data import Example, Prediction
from streamlearn.errors import Reason, RecordError
from streamlearn.stream.record_codec import encode

_BREAKS_A_ROW = re.compile(r"[\t\r\n]")


def to_json_line(example: Example, predicted: Prediction) -> str:
    r"""Return the sequence as one line of JSON, with the predicted labels as its labels.

    What else is predicted stands under keys that readers of records ignore; `prediction.schema.json` says
    what they hold.

    Examples
    --------
    >>> to_json_line(Example({"w": ["New", "York"]}), Prediction(["B", "I"], [0.5, 0.25], 0.125))
    '{"columns":{"w":["New","York"]},"labels":["B","I"],"marginals":[0.5,0.25],"probability":0.125}\n'
    """
    record = encode(replace(example, labels=predicted.labels), "json").decode()
    more = _said(asdict(predicted))
    del more["labels"]
    if not more:
        return record + "\n"
    text = json.dumps(more, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{record[:-1]},{text[1:]}\n"


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out what was not asked."""
    said = {name: value for name, value in fields.items() if value is not None}
    if "alternatives" in said:
        said["alternatives"] = [_said(alternative) for alternative in said["alternatives"]]
    return said


def to_columns(example: Example, predicted: Prediction) -> str:
    r"""Return the sequence as rows of a column file: columns, marginals and labels if any, prediction.

    Tabs separate the fields and a blank line ends the sequence: what CRF++ prints and conlleval reads (``-d``
    with a tab).

    Raises
    ------
    RecordError : TYPE; a value is empty or holds a tab or a line break, which rows cannot carry.

    Examples
    --------
    >>> to_columns(Example({"w": ["New", "York"]}, labels=["B", "I"]), Prediction(["B", "O"]))
    'New\tB\tB\nYork\tI\tO\n\n'
    """
    fields = list(example.columns.items())
    if predicted.marginals is not None:
        # Before the labels: conlleval takes the last two fields for the labels and the predicted ones.
        fields.append(("the marginals", [f"{probability:.6g}" for probability in predicted.marginals]))
    if example.labels is not None:
        fields.append(("labels", example.labels))
    fields.append(("the prediction", predicted.labels))
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
