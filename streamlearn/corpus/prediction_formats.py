"""Formatting predicted sequences as JSON Lines or column files, the output of `predict`."""

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

    Marginals, alternatives and the like have keys of their own, which readers of records ignore;
    `prediction.schema.json` describes them.

    Examples
    --------
    >>> to_json_line(Example({"w": ["New", "York"]}), Prediction(["B", "I"], [0.5, 0.25], 0.125))
    '{"columns":{"w":["New","York"]},"labels":["B","I"],"marginals":[0.5,0.25],"probability":0.125}\n'
    """
    record = encode(replace(example, labels=predicted.labels), "json").decode()
    more = _without_none(asdict(predicted))
    del more["labels"]
    if not more:
        return record + "\n"
    text = json.dumps(more, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{record[:-1]},{text[1:]}\n"


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    present = {name: value for name, value in fields.items() if value is not None}
    if "alternatives" in present:
        present["alternatives"] = [_without_none(alternative) for alternative in present["alternatives"]]
    return present


def to_columns(example: Example, predicted: Prediction) -> str:
    r"""Return the sequence as rows of a column file: columns, marginals and labels if any, prediction.

    Tabs separate the fields and a blank line ends the sequence, as CRF++ prints and conlleval reads (``-d``
    with a tab).

    Raises
    ------
    RecordError : TYPE; a value is empty or contains a tab or a line break, which rows cannot represent.

    Examples
    --------
    >>> to_columns(Example({"w": ["New", "York"]}, labels=["B", "I"]), Prediction(["B", "O"]))
    'New\tB\tB\nYork\tI\tO\n\n'
    """
    fields = list(example.columns.items())
    if predicted.marginals is not None:
        # Before the labels: conlleval expects the gold and the predicted label in the last two fields.
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
                Reason.TYPE,
                f"{name}[{t}] is {value[:40]!r}, which a column file cannot represent; use JSON Lines",
            )
