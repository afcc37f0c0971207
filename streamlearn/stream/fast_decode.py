"""Fast decoding of records in the usual form, in C; anything else is left to the full decoder.

A typed decoder (msgspec) parses and checks a record in one pass. It would accept some records that must be
rejected, such as one with a duplicate key, and reject some valid ones, such as one with unknown keys. So it
handles only the clear case: whenever there is any doubt it returns None, and the full decoder in
`streamlearn.stream.record_codec` decides and words the error.
"""

import sys
from collections.abc import Callable, Collection
from typing import Annotated, Final

from msgspec import UNSET, Meta, MsgspecError, Struct, UnsetType, json, msgpack

from streamlearn.choices import ContentType
from streamlearn.data import Example

_Entries = Annotated[list[str], Meta(min_length=1)]


class _Plain(Struct, forbid_unknown_fields=True, gc=False):
    """The usual form of a record. Unknown keys are not allowed, since the decoder would not check them."""

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


def read_plain(value: bytes, content_type: ContentType) -> Example | None:
    """Return the Example in `value`, or None if only the full decoder can decide.

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
    # After the checks, a false value means that the key is absent.
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
    """Return whether any key may occur twice; the decoder would silently keep the last one."""
    # Each key is followed by a colon: with exactly one colon per distinct key, none is repeated.
    if value.count(b":") == n_keys + len(columns):
        return False
    if b"\\" in value:
        return True
    # Without escapes, a key can be spelled in one way only.
    keys = [*_KEYS, *(name.encode() for name in columns)]
    return any(value.count(b'"%b"' % key) > 1 for key in keys)


def _may_repeat_msgpack(value: bytes, n_keys: int, columns: Collection[str]) -> bool:
    """Return the same for msgpack: a map begins with its size, and there are at most two maps."""
    if value[0] != 0x80 + n_keys:
        return True
    if not columns:
        return False
    # The second map begins right after the key "columns", whatever the encoding of its length.
    at = value.find(b"columns")
    return value.find(b"columns", at + 1) >= 0 or value[at + 7] != 0x80 + len(columns)
