"""Formatting predicted sequences as JSON Lines or column files, the output of `predict`."""

import json
import re
from dataclasses import asdict, replace
from typing import Any

from streamlearn.data import Example, Prediction
from streamlearn.errors import Reason, RecordError
from streamlearn.stream.record_codec import encode

# The keys that a prediction may add; those of an earlier one are not passed through.
_ADDED = {"marginals", "label_marginals", "probability", "alternatives", "rejected"}
_BREAKS_A_ROW = re.compile(r"[\t\r\n]")


def to_json_line(example: Example, predicted: Prediction) -> str:
    r"""Return the sequence as one line of JSON, with the predicted labels as its labels.

    Marginals, alternatives and the like have keys of their own, which readers of records ignore;
    `prediction.schema.json` describes them. Of an example that comes from a record, all keys are repeated.

    Raises
    ------
    RecordError : NOT_FINITE; a number of the record is too large to be written.

    Examples
    --------
    >>> to_json_line(Example({"w": ["New", "York"]}), Prediction(["B", "I"], [0.5, 0.25], 0.125))
    '{"columns":{"w":["New","York"]},"labels":["B","I"],"marginals":[0.5,0.25],"probability":0.125}\n'
    """
    more = _without_none(asdict(predicted))
    if example.record is not None:
        return _to_line(_passed_through(example) | more)
    record = encode(replace(example, labels=more.pop("labels")), "json").decode()
    return f"{record[:-1]},{_to_line(more)[1:]}" if more else record + "\n"


def to_rejected_line(error: RecordError, example: Example | None = None) -> str:
    r"""Return one line of JSON in place of a prediction: why there is none, and the record if it was read.

    Its labels are left out, lest they be mistaken for predicted ones.

    Examples
    --------
    >>> to_rejected_line(RecordError(Reason.EMPTY, "f:2: the record is empty"))
    '{"rejected":{"reason":"empty","message":"f:2: the record is empty"}}\n'
    """
    record = {} if example is None else _passed_through(example)
    record.pop("labels", None)
    return _to_line(record | {"rejected": {"reason": error.reason, "message": str(error)}})


def _passed_through(example: Example) -> dict[str, Any]:
    return {key: value for key, value in (example.record or {}).items() if key not in _ADDED}


def _to_line(mapping: dict[str, Any]) -> str:
    try:
        return json.dumps(mapping, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    except (ValueError, RecursionError) as error:
        raise RecordError(
            Reason.NOT_FINITE, "the record contains a number or a nesting too large to be written again"
        ) from error


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
