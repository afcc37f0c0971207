"""Sending sequences to a topic: encoding, choosing the key, limiting the rate."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamlearn.choices import ContentType
from streamlearn.data import Example
from streamlearn.errors import UsageError
from streamlearn.stream.record_codec import MEDIA_TYPES, encode

NO_KEY = "none"
KEY_FROM_ID = "id"


class Sink(Protocol):
    """A topic to write to."""

    def send(self, key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes]] = ()) -> None:
        """Send one record."""


class RateLimit:
    """Limits records to a rate, measured from the first one; catches up after a stall.

    Parameters
    ----------
    per_second : records per second, > 0; None never waits.
    clock, sleep : monotonic time in seconds, and sleeping for some.
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
        """Wait until the next record is due."""
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
    """Encodes sequences and sends them to a sink.

    Attributes
    ----------
    sink : where the records go.
    content_type : how values are encoded; also sent in the header `content-type`.
    key : "id" = the sequence's id, or its running number if it has none; "none" = no key; else the name of
        the column whose first value is the key.
    sequences, tokens, value_bytes : sent so far.
    """

    sink: Sink
    content_type: ContentType = "json"
    key: str = KEY_FROM_ID
    sequences: int = 0
    tokens: int = 0
    value_bytes: int = 0

    def feed(self, examples: Iterable[Example], rate_limit: RateLimit, on_sent: Callable[[], None]) -> None:
        """Send every sequence, and call `on_sent` after each.

        Raises
        ------
        UsageError : a sequence has no key column.
        """
        headers = [("content-type", MEDIA_TYPES[self.content_type])]
        for example in examples:
            key = self._key_of(example)
            value = encode(example, self.content_type)
            rate_limit.wait()
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
            raise UsageError(f"no column {self.key!r} to use as key; the sequence has: {columns}")
        return example.columns[self.key][0].encode()
