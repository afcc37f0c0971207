"""The schema of a record: a parsed mapping becomes an Example, or a RecordError with a reason.

`record.schema.json` is the same in JSON Schema. Checks run over whole lists at C speed; the slow search for
the offending entry happens only once a list is known to be wrong.
"""

import reprlib
from math import isfinite
from typing import Any

from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError

_KINDS = {
    bool: "a boolean",
    bytes: "bytes",
    dict: "a mapping",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


def to_example(payload: object) -> Example:
    """Check a parsed record and return it as an Example.

    Exactly one of `tokens`, `columns` and `features` must be present; null counts as absent for every key,
    and unknown keys are ignored. `tokens` becomes the column "tokens". `features` follows python-crfsuite: a
    list of names (each 1.0), or a mapping of name to number, to a boolean (1.0 or 0.0) or to a string, where
    ``{"shape": "Xx"}`` means ``{"shape=Xx": 1.0}``. A whole-number `id` becomes a string.

    Raises
    ------
    RecordError : TYPE, EMPTY, LENGTH, NOT_FINITE or DUPLICATE_KEY, with the place in the message.

    Examples
    --------
    >>> to_example({"tokens": ["New", "York"], "labels": ["B", "I"]}).columns
    {'tokens': ['New', 'York']}
    """
    if type(payload) is not dict:
        raise RecordError(Reason.TYPE, f"the record is {_kind(payload)}, wanted a mapping")
    get = payload.get
    tokens, columns, features, labels = get("tokens"), get("columns"), get("features"), get("labels")
    if (tokens is None) + (columns is None) + (features is None) != 2:
        raise _not_one_shape(payload)
    if columns is not None:
        length = _check_columns(columns)
    elif tokens is not None:
        length = _check_strings(tokens, "tokens")
        columns = {"tokens": tokens}
    else:
        columns, features = {}, _features(features)
        length = len(features)
    if labels is not None:
        _check_labels(labels, length)
    return Example(columns, labels, features, _id(get("id")), _weight(get("weight")))


def _not_one_shape(payload: dict[str, Any]) -> RecordError:
    given = [name for name in ("tokens", "columns", "features") if payload.get(name) is not None]
    if given:
        return RecordError(Reason.TYPE, f"the record has {' and '.join(given)}, wanted one of them")
    return RecordError(
        Reason.EMPTY, "the record has none of tokens, columns and features, wanted one of them"
    )


def _check_columns(columns: Any) -> int:
    if type(columns) is not dict:
        raise RecordError(Reason.TYPE, f"columns is {_kind(columns)}, wanted a mapping of name to list")
    if not columns:
        raise RecordError(Reason.EMPTY, "columns is empty, wanted at least one column")
    length = 0
    for name, column in columns.items():
        if type(name) is not str:
            raise RecordError(Reason.TYPE, f"a name in columns is {_kind(name)}, wanted a string")
        if not _are_strings(column):
            raise _not_strings(column, f"columns.{_name(name)}")
        if len(column) != length:
            if length:
                raise _unequal(columns, name)
            length = len(column)
    return length


def _unequal(columns: dict[str, list[str]], name: str) -> RecordError:
    first, column = next(iter(columns.items()))
    return RecordError(
        Reason.LENGTH,
        f"columns.{_name(first)} has {len(column)} entries but columns.{_name(name)} has "
        f"{len(columns[name])}, wanted equal lengths",
    )


def _check_labels(labels: Any, length: int) -> None:
    if labels != [] and not _are_strings(labels):
        raise _not_strings(labels, "labels")
    if len(labels) != length:
        raise RecordError(
            Reason.LENGTH, f"labels has {len(labels)} entries, wanted one for each of {length} tokens"
        )
    if not all(labels):
        raise RecordError(Reason.TYPE, f"labels[{labels.index('')}] is an empty string, wanted a label")


def _check_strings(values: Any, place: str) -> int:
    if not _are_strings(values):
        raise _not_strings(values, place)
    return len(values)


def _are_strings(values: Any) -> bool:
    if type(values) is not list or not values:
        return False
    try:
        # The fastest check of a whole list in CPython: half the time of set(map(type, values)).
        "".join(values)
    except TypeError:
        return False
    return True


def _not_strings(values: Any, place: str) -> RecordError:
    if type(values) is not list:
        return RecordError(Reason.TYPE, f"{place} is {_kind(values)}, wanted a list of strings")
    if not values:
        return RecordError(Reason.EMPTY, f"{place} is empty, wanted at least one entry")
    t, value = next((t, value) for t, value in enumerate(values) if type(value) is not str)
    return RecordError(Reason.TYPE, f"{place}[{t}] is {_kind(value)}, wanted a string")


def _features(features: Any) -> list[list[str]] | list[dict[str, float]]:
    if type(features) is not list:
        raise RecordError(Reason.TYPE, f"features is {_kind(features)}, wanted a list")
    if not features:
        raise RecordError(Reason.EMPTY, "features is empty, wanted at least one position")
    kinds = set(map(type, features))
    if kinds == {list}:
        for t, names in enumerate(features):
            if names and not _are_strings(names):
                raise _not_strings(names, f"features[{t}]")
        return features
    if kinds == {dict}:
        return [_values(attributes, t) for t, attributes in enumerate(features)]
    first = type(features[0])
    wanted = _KINDS[first] if first in (list, dict) else "a list or a mapping"
    t = next((t for t, entry in enumerate(features) if type(entry) is not first), 0)
    raise RecordError(
        Reason.TYPE, f"features[{t}] is {_kind(features[t])}, wanted {wanted} at every position"
    )


def _values(attributes: dict[Any, Any], t: int) -> dict[str, float]:
    if attributes and not _are_strings(list(attributes)):
        raise RecordError(Reason.TYPE, f"features[{t}] has a feature name that is not a string")
    values = attributes
    if not set(map(type, attributes.values())) <= {float}:
        values = dict(_attribute(name, value, t) for name, value in attributes.items())
        if len(values) != len(attributes):
            raise RecordError(
                Reason.DUPLICATE_KEY,
                f"features[{t}] has the same feature twice, as name=value and as a string value",
            )
    if not all(map(isfinite, values.values())):
        name = next(name for name, value in values.items() if not isfinite(value))
        raise RecordError(Reason.NOT_FINITE, f"features[{t}].{_name(name)} is not a finite number")
    return values


def _attribute(name: str, value: Any, t: int) -> tuple[str, float]:
    if type(value) is str:
        return f"{name}={value}", 1.0
    if type(value) not in (int, float, bool):
        raise RecordError(
            Reason.TYPE,
            f"features[{t}].{_name(name)} is {_kind(value)}, wanted a number, a boolean or a string",
        )
    return name, _float(value)


def _id(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    if type(value) is int or (type(value) is float and value.is_integer()):
        return str(int(value))
    raise RecordError(Reason.TYPE, f"id is {_kind(value)}, wanted a string or a whole number")


def _weight(weight: Any) -> float:
    if weight is None:
        return 1.0
    if type(weight) not in (int, float):
        raise RecordError(Reason.TYPE, f"weight is {_kind(weight)}, wanted a number > 0")
    value = _float(weight)
    if not isfinite(value):
        raise RecordError(Reason.NOT_FINITE, "weight is not a finite number")
    if value <= 0:
        raise RecordError(Reason.TYPE, f"weight is {value:g}, wanted a number > 0")
    return value


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _name(name: str) -> str:
    # Names are untrusted input: the message must stay one short line that fits a log and a header.
    return name if len(name) <= 40 and name.isidentifier() else reprlib.repr(name)
