"""Sequences into a topic: encoded, keyed and paced."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamlearn.data import Example
from streamlearn.errors import UsageError
from streamlearn.stream.record_codec import MEDIA_TYPES, ContentType, encode

NO_KEY = "none"
KEY_FROM_ID = "id"


class Sink(Protocol):
    """Where records go."""

    def send(self, key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes]] = ()) -> None:
        """Take one record over."""


class Pace:
    """Holds records back to a rate, measured from the first; catches up after a stall.

    Parameters
    ----------
    per_second : records a second, > 0; None never waits.
    clock, sleep : monotonic seconds, and waiting for some.
    """

    def __init__(
        self,
        per_second: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._per_second = per_second
        self._clock = clock
        self._sleep = sleep
        self._start = clock()
        self._count = 0

    def wait(self) -> None:
        """Return when the next record is due."""
        if self._per_second is None:
            return
        if self._count == 0:
            self._start = self._clock()
        remaining = self._start + self._count / self._per_second - self._clock()
        if remaining > 0:
            self._sleep(remaining)
        self._count += 1


@dataclass(slots=True)
class Feeder:
    """Encodes sequences and hands them to a sink.

    Attributes
    ----------
    sink : takes the records.
    content_type : how values are encoded; the header `content-type` says it to whoever reads them.
    key : "id" = the sequence's id, or its running number where it has none; "none" = no key; else the name of
        the column whose first value is the key.
    sequences, tokens, value_bytes : handed over so far.
    """

    sink: Sink
    content_type: ContentType = "json"
    key: str = KEY_FROM_ID
    sequences: int = 0
    tokens: int = 0
    value_bytes: int = 0

    def feed(self, examples: Iterable[Example], pace: Pace, on_sent: Callable[[], None]) -> None:
        """Send every sequence, and call `on_sent` after each.

        Raises
        ------
        UsageError : a sequence lacks the key column.
        """
        headers = [("content-type", MEDIA_TYPES[self.content_type])]
        for example in examples:
            key = self._key_of(example)
            value = encode(example, self.content_type)
            pace.wait()
            self.sink.send(key, value, headers)
            self.sequences += 1
            self.tokens += len(example)
            self.value_bytes += len(value)
            on_sent()

    def _key_of(self, example: Example) -> bytes | None:
        if self.key == NO_KEY:
            return None
        if self.key == KEY_FROM_ID:
            return (str(self.sequences) if example.id is None else example.id).encode()
        if self.key not in example.columns:
            columns = ", ".join(example.columns) or "none"
            raise UsageError(f"no column {self.key!r} to take the key from; the sequence has {columns}")
        return example.columns[self.key][0].encode()
