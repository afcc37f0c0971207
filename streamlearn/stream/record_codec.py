"""Decoding bytes into an Example and encoding it, as JSON or msgpack; any bad input is a RecordError.

A record is ``{"id"?, "tokens": [...] | "columns": {name: [...]} | "features": [...], "labels"?, "weight"?}``
in either format; `streamlearn.stream.record_schema` and `record.schema.json` say what it must hold.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, NoReturn

import msgpack

from streamlearn.choices import ContentType
from streamlearn.data import Example, Record
from streamlearn.errors import Reason, RecordError
from streamlearn.stream.fast_decode import read_plain
from streamlearn.stream.record_schema import to_example

MEDIA_TYPES: dict[ContentType, bytes] = {"json": b"application/json", "msgpack": b"application/msgpack"}

_CONTENT_TYPES: dict[str, ContentType] = {
    "application/json": "json",
    "text/json": "json",
    "application/msgpack": "msgpack",
    "application/x-msgpack": "msgpack",
    "application/vnd.msgpack": "msgpack",
}
# First bytes of a msgpack map; no JSON text starts with any of them.
_MSGPACK_MAPS = frozenset([*range(0x80, 0x90), 0xDE, 0xDF])
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def decode(value: bytes | None, content_type: ContentType) -> Example:
    """Return the Example in `value`.

    Raises
    ------
    RecordError : the value is not a valid record; nothing else is raised, whatever the bytes are.

    Examples
    --------
    >>> decode(b'{"tokens": ["New", "York"], "labels": ["B", "I"]}', "json").labels
    ['B', 'I']
    """
    if value is None:
        raise RecordError(Reason.TOMBSTONE, "the value is null (a tombstone), wanted a record")
    example = read_plain(value, content_type)
    return _decode_fully(value, content_type) if example is None else example


def _decode_fully(value: bytes, content_type: ContentType) -> Example:
    try:
        payload = _parse_json(value) if content_type == "json" else _parse_msgpack(value)
    except UnicodeDecodeError as error:
        raise RecordError(Reason.ENCODING, f"not UTF-8 at byte {error.start}: {error.reason}") from error
    except (ValueError, RecursionError) as error:
        detail = str(error) or type(error).__name__
        raise RecordError(Reason.SYNTAX, f"not a valid {content_type} value: {detail}") from error
    return to_example(payload)


def encode(example: Example, content_type: ContentType) -> bytes:
    """Return the bytes that `decode` turns back into an equal Example.

    Keys with default values are left out: no `id`, no `labels`, a `weight` of 1.
    """
    payload: dict[str, Any] = {}
    if example.id is not None:
        payload["id"] = example.id
    if example.features is not None:
        payload["features"] = example.features
    else:
        payload["columns"] = dict(example.columns)
    if example.labels is not None:
        payload["labels"] = example.labels
    if example.weight != 1.0:
        payload["weight"] = example.weight
    if content_type == "json":
        return json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    packed: bytes = msgpack.packb(payload)
    return packed


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a record, which is part of the package."""
    text = resources.files("streamlearn.stream").joinpath("record.schema.json").read_text("utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


@dataclass(frozen=True, slots=True)
class RecordCodec:
    """Decodes the records of one stream into Examples, within limits.

    Attributes
    ----------
    content_type : "auto" uses the header `content-type`, or the first byte if there is none.
    require_labels : reject records without labels, as learning must.
    max_tokens, max_bytes : reject longer sequences and larger values; the size is checked before parsing.
    """

    content_type: ContentType | Literal["auto"] = "auto"
    require_labels: bool = True
    max_tokens: int = 65_536
    max_bytes: int = 4 * 1024 * 1024

    def decode_record(self, record: Record) -> Example:
        """Return the Example of one message.

        Raises
        ------
        RecordError : and nothing else.
        """
        return self.decode_value(record.value, record.headers)

    def decode_value(
        self, value: bytes | None, headers: Iterable[tuple[str, bytes | None]] | None = None
    ) -> Example:
        """Return the Example of one value, such as a line of a JSON Lines file.

        Raises
        ------
        RecordError : and nothing else.
        """
        if value is not None and len(value) > self.max_bytes:
            raise RecordError(
                Reason.TOO_LARGE, f"the value has {len(value)} bytes, wanted at most {self.max_bytes}"
            )
        content_type = self.content_type
        example = decode(value, _choose(value, headers or ()) if content_type == "auto" else content_type)
        # A token takes at least one byte, so that most records need no further check.
        if value is not None and len(value) > self.max_tokens and len(example) > self.max_tokens:
            raise RecordError(
                Reason.TOO_LARGE, f"the sequence has {len(example)} tokens, wanted at most {self.max_tokens}"
            )
        if self.require_labels and example.labels is None:
            raise RecordError(
                Reason.MISSING_LABELS, "the record has no labels; learning needs one label per token"
            )
        return example


def _choose(value: bytes | None, headers: Iterable[tuple[str, bytes | None]]) -> ContentType:
    header = None
    for name, content in headers:
        # The last of several headers counts, as with Headers.lastHeader of the Java client.
        if name.lower() == "content-type" and content:
            header = content
    if header is not None:
        media_type = header.partition(b";")[0].decode("latin-1").strip().lower()
        known = _CONTENT_TYPES.get(media_type)
        if known is None:
            raise RecordError(
                Reason.CONTENT_TYPE,
                f"content-type is {media_type[:80]!a}, wanted {', '.join(_CONTENT_TYPES)}",
            )
        return known
    return "msgpack" if value and value[0] in _MSGPACK_MAPS else "json"


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        seen: set[Any] = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RecordError(Reason.DUPLICATE_KEY, f"the key {key[:80]!a} occurs twice in one mapping")
    return mapping


def _refuse_constant(name: str) -> NoReturn:
    raise RecordError(Reason.NOT_FINITE, f"the record contains {name}, which is not a JSON number")


_JSON = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _parse_json(value: bytes) -> object:
    text = value.decode()
    payload: object = _JSON.decode(text)
    if _SURROGATE_ESCAPE.search(text):
        _refuse_lone_surrogates(payload)
    return payload


def _refuse_lone_surrogates(payload: object) -> None:
    try:
        json.dumps(payload, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        found = error.object[error.start]
        raise RecordError(
            Reason.ENCODING, f"the record contains the lone surrogate {found!a}, which is not a character"
        ) from error


def _parse_msgpack(value: bytes) -> object:
    payload: object = msgpack.unpackb(value, object_pairs_hook=_unique)
    return payload
