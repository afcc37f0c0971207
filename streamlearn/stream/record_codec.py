"""Decoding bytes into an Example and encoding it, as JSON or msgpack; any bad input is a RecordError.

A record is ``{"id"?, "tokens": [...] | "columns": {name: [...]} | "features": [...], "labels"?, "weight"?}``
in either format; `streamlearn.stream.record_schema` and `record.schema.json` say what it must hold.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
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
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# What a value that is not a record begins with, and what to do about it.
_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "compressed with gzip; set compression.type of the producer instead, which Kafka undoes"),
    (b"\xff\xfe", "UTF-16, wanted UTF-8"),
    (b"\xfe\xff", "UTF-16, wanted UTF-8"),
    (b"Obj\x01", "an Avro file; wanted one JSON or msgpack record per value"),
)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def decode(value: bytes | None, content_type: ContentType, keep_record: bool = False) -> Example:
    """Return the Example in `value`; JSON may begin with a byte order mark.

    Parameters
    ----------
    keep_record : also keep the parsed record, with all its keys.

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
    example = None if keep_record else read_plain(value, content_type)
    return _decode_fully(value, content_type, keep_record) if example is None else example


def _decode_fully(value: bytes, content_type: ContentType, keep_record: bool = False) -> Example:
    try:
        payload = _parse_json(value) if content_type == "json" else _parse_msgpack(value)
    except UnicodeDecodeError as error:
        detail = _foreign(value) or f"not UTF-8 at byte {error.start}: {error.reason}"
        raise RecordError(Reason.ENCODING, detail) from error
    except (ValueError, RecursionError) as error:
        detail = _foreign(value) or str(error) or type(error).__name__
        raise RecordError(Reason.SYNTAX, f"not a valid {content_type} value: {detail}") from error
    example = to_example(payload)
    return replace(example, record=payload) if keep_record and isinstance(payload, dict) else example


def _foreign(value: bytes) -> str:
    """Return what a value is that is neither JSON nor msgpack, and what to do; "" if that is unknown."""
    if value[:1] == b"\0" and len(value) > 5:
        schema_id = int.from_bytes(value[1:5], "big")
        return (
            f"it begins with the frame of a Confluent schema registry (byte 0, schema id {schema_id}); "
            "let the producer write plain JSON or msgpack, without a registry's serializer"
        )
    return next((meaning for head, meaning in _FOREIGN if value.startswith(head)), "")


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
    keep_record : keep the parsed records, so that they can be written again with all their keys; slower.
    """

    content_type: ContentType | Literal["auto"] = "auto"
    require_labels: bool = True
    max_tokens: int = 65_536
    max_bytes: int = 4 * 1024 * 1024
    keep_record: bool = False

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
        if content_type == "auto":
            content_type = _choose(value, headers or ())
        example = decode(value, content_type, self.keep_record)
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
    text = value.removeprefix(_BYTE_ORDER_MARK).decode()
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
