"""A record that could not be learned from: its bytes unchanged, with the error as headers or as JSON."""

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from streamlearn.data import Record, TopicPartition

PREFIX = "streamlearn.error."
REPLAYED = "streamlearn.replayed"

_MESSAGE_BYTES = 512
_BYTES = ("key", "value")
_NO_KEY = PREFIX + "key_is_null"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One bad record.

    Attributes
    ----------
    topic, partition, offset, timestamp : of the original record; the timestamp in milliseconds.
    key, value, headers : of the original record; a value of None is a tombstone.
    reason, message : what is wrong with it.
    model, version : name of the model that rejected it, and release of streamlearn.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]
    reason: str
    message: str
    model: str
    version: str

    @property
    def place(self) -> str:
        """Topic, partition and offset of the original: ``orders[3]@1841``."""
        return TopicPartition(self.topic, self.partition).at(self.offset)

    @classmethod
    def of(cls, record: Record, reason: str, message: str, model: str, version: str) -> "DeadLetter":
        """Return the dead letter for a record; messages are truncated to 512 bytes."""
        short = message.encode()[:_MESSAGE_BYTES].decode(errors="ignore")
        where = record.topic, record.partition, record.offset, record.timestamp
        return cls(*where, record.key, record.value, list(record.headers), str(reason), short, model, version)

    @classmethod
    def from_record(cls, record: Record) -> "DeadLetter | None":
        """Return the dead letter in a record of a dead letter topic; None for any other record."""
        own = [(name, value) for name, value in record.headers if not name.startswith(PREFIX)]
        # The last of several counts: a dead letter that was rejected again has two sets of headers.
        texts = {name: (value or b"").decode(errors="replace") for name, value in record.headers}
        try:
            plain: dict[str, Any] = {
                field.name: (int if field.type is int else str)(texts[PREFIX + field.name])
                for field in fields(cls)
                if field.type in (str, int)
            }
        except (KeyError, ValueError):
            return None
        key = None if texts.get(_NO_KEY) else record.key
        return cls(key=key, value=record.value, headers=own, **plain)

    def error_headers(self) -> list[tuple[str, bytes]]:
        """Return the headers of the record, followed by those that describe the error."""
        wrong = {field.name: getattr(self, field.name) for field in fields(self) if field.type in (str, int)}
        headers = [*self.headers, *((PREFIX + name, str(value).encode()) for name, value in wrong.items())]
        if self.key is None and self.value is None:
            # The client requires a key or a value, so an empty key is sent instead.
            headers.append((_NO_KEY, b"true"))
        return headers

    def to_line(self) -> bytes:
        r"""Return it as one line of JSON, with bytes in base64.

        >>> letter = DeadLetter("t", 0, 7, -1, None, b"\xff", [], "encoding", "not UTF-8", "np", "0.1")
        >>> DeadLetter.from_line(letter.to_line()) == letter
        True
        """
        return json.dumps(asdict(self) | self._text_of_bytes(_packed)).encode() + b"\n"

    def shown(self) -> dict[str, Any]:
        """Return it for display: bytes as text, with invalid UTF-8 escaped."""
        return asdict(self) | self._text_of_bytes(
            lambda data: None if data is None else data.decode(errors="backslashreplace")
        )

    @classmethod
    def from_line(cls, line: bytes) -> "DeadLetter":
        """Return the dead letter in a line of JSON.

        Raises
        ------
        ValueError : the line is not a dead letter.
        """
        try:
            found = json.loads(line)
            found |= {name: _unpacked(found[name]) for name in _BYTES}
            found["headers"] = [(name, _unpacked(value) or b"") for name, value in found["headers"]]
            return cls(**found)
        except (TypeError, KeyError) as error:
            raise ValueError(f"not a dead letter: {error}") from None

    def _text_of_bytes(self, write: Any) -> dict[str, Any]:
        headers: Sequence[tuple[str, Any]] = [(name, write(value)) for name, value in self.headers]
        return {"key": write(self.key), "value": write(self.value), "headers": headers}


def _packed(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _unpacked(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
