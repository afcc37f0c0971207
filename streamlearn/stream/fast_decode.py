"""Records that are surely good, at the speed of C; of all others nothing is said.

A typed decoder parses and checks a record in one go. It would read some records that are to be refused,
such as one that gives a key twice, and some it refuses are good, such as one with keys that nobody knows.
So it decides nothing but the plain case: whenever there is any doubt the answer is None, and the careful
reading of `streamlearn.stream.record_codec` decides and words the error.
"""

import sys
from collections.abc import Callable, Collection
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, MsgspecError, Struct, UnsetType, json, msgpack

from streamlearn.data import Example

_Entries = Annotated[list[str], Meta(min_length=1)]


class _Plain(Struct, forbid_unknown_fields=True, gc=False):
    """The usual shapes. What is skipped is not checked, so that nothing may be skipped: no unknown keys."""

    columns: Annotated[dict[str, _Entries], Meta(min_length=1)] | UnsetType | None = UNSET
    tokens: _Entries | UnsetType | None = UNSET
    features: Annotated[list[list[str]], Meta(min_length=1)] | UnsetType | None = UNSET
    labels: Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)] | UnsetType | None = UNSET
    id: str | int | UnsetType | None = UNSET
    weight: Annotated[float, Meta(gt=0, le=sys.float_info.max)] | UnsetType | None = UNSET
    ts: str | int | float | UnsetType | None = UNSET


_KEYS: Final = [name.encode() for name in _Plain.__struct_fields__]
_DECODERS: Final[dict[str, Callable[[bytes], _Plain]]] = {
    "json": json.Decoder(_Plain).decode,
    "msgpack": msgpack.Decoder(_Plain).decode,
}


def read_plain(value: bytes, content_type: Literal["json", "msgpack"]) -> Example | None:
    """Return the Example that `value` holds, or None where only a careful reading can tell.

    Examples
    --------
    >>> read_plain(b'{"tokens": ["New", "York"]}', "json").columns
    {'tokens': ['New', 'York']}
    >>> read_plain(b'{"tokens": ["New"], "tokens": ["York"]}', "json")
    """
    try:
        record = _DECODERS[content_type](value)
    except (MsgspecError, ValueError, RecursionError):
        return None
    # Of the checked values only those that are absent are false.
    columns, tokens, features, labels = record.columns, record.tokens, record.features, record.labels
    weight, name = record.weight, record.id
    n_keys = (
        (columns is not UNSET) + (tokens is not UNSET) + (features is not UNSET) + (labels is not UNSET)
        + (weight is not UNSET) + (name is not UNSET) + (record.ts is not UNSET)
    )  # fmt: skip
    may_repeat = _may_repeat_json if content_type == "json" else _may_repeat_msgpack
    if may_repeat(value, n_keys, columns or ()):
        return None
    if columns:
        if tokens or features:
            return None
        length = len(labels or next(iter(columns.values())))
        for column in columns.values():
            if len(column) != length:
                return None
    else:
        shape = tokens or features
        if not shape or (tokens and features) or (labels and len(labels) != len(shape)):
            return None
        columns = {"tokens": tokens} if tokens else {}
    return Example(
        columns,
        labels or None,
        features or None,
        None if name is None or name is UNSET else str(name),
        weight or 1.0,
    )


def _may_repeat_json(value: bytes, n_keys: int, columns: Collection[str]) -> bool:
    """Return whether any key may be there twice; the decoder keeps the last one and says nothing."""
    # After each key stands a colon, so that as many colons as distinct keys leave none for a repetition.
    if value.count(b":") == n_keys + len(columns):
        return False
    if b"\\" in value:
        return True
    # Nothing is escaped: what is between quotes is spelled one way only.
    keys = [*_KEYS, *(name.encode() for name in columns)]
    return any(value.count(b'"%b"' % key) > 1 for key in keys)


def _may_repeat_msgpack(value: bytes, n_keys: int, columns: Collection[str]) -> bool:
    """Tell the same: a map begins with the number of its entries, and there are two maps at most."""
    if value[0] != 0x80 + n_keys:
        return True
    if not columns:
        return False
    # The second map begins after the key "columns", however that string is announced.
    at = value.find(b"columns")
    return value.find(b"columns", at + 1) >= 0 or value[at + 7] != 0x80 + len(columns)
