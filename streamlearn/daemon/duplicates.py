"""Recently learned records, so that one that a producer sent twice is learned once."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import DeduplicateBy
from streamlearn.data import Example, Record


def fingerprint(name: bytes) -> int:
    """Hash a key or an id to 64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")


class Window:
    """Fingerprints of the last records, with or without those that were read ahead.

    Parameters
    ----------
    size : how many fingerprints are remembered.
    ahead : how many may have been added after the ones that `state` returns.

    Examples
    --------
    >>> window = Window(size=2, ahead=1)
    >>> for name in (b"a", b"b", b"c"):
    ...     window.add(fingerprint(name))
    >>> [fingerprint(name) in window for name in (b"a", b"b", b"c")]
    [False, True, True]
    """

    def __init__(self, size: int, ahead: int) -> None:
        self._size = size
        self._ring = np.zeros(size + ahead, np.uint64)
        self._known: set[int] = set()
        self.added = 0

    def __contains__(self, found: int) -> bool:
        """Return whether a fingerprint is remembered."""
        return found in self._known

    def add(self, new: int) -> None:
        """Add a fingerprint that is not remembered; a full window forgets the oldest."""
        if self.added >= self._size:
            self._known.remove(int(self._ring[(self.added - self._size) % len(self._ring)]))
        self._ring[self.added % len(self._ring)] = new
        self._known.add(new)
        self.added += 1

    def state(self, added: int) -> NDArray[np.uint64]:
        """Return the fingerprints remembered when `added` had been added, oldest first."""
        places = np.arange(max(0, added - self._size), added) % len(self._ring)
        return self._ring[places]

    def restore(self, state: NDArray[Any]) -> None:
        """Continue from a state; of a larger window, from its newest fingerprints."""
        self._known.clear()
        self.added = 0
        for each in state[-self._size :].tolist():
            self.add(each)


class Duplicates:
    """Recognizes records that were learned recently, by their key or by the id of their sequence.

    Only learned records are remembered, so that a rejected one may come again. Reading runs ahead of
    learning: a saved state is as of the last `settle`.

    Parameters
    ----------
    field : what makes two records the same; records without it are never duplicates. None switches this off.
    size : how many records are remembered, as 64-bit hashes: one in 2⁶⁴ / size is mistaken for another.
    ahead : upper bound of the records that are read but not settled.
    """

    def __init__(self, field: DeduplicateBy | None = None, size: int = 1, ahead: int = 1) -> None:
        self._field = field
        self._window = Window(size, ahead)
        self._settled = 0

    @property
    def is_active(self) -> bool:
        """Whether duplicates are looked for."""
        return self._field is not None

    @property
    def added(self) -> int:
        """How many records were learned, or are about to be."""
        return self._window.added

    def mark_of(self, record: Record, example: Example) -> int | None:
        """Return the fingerprint of a record; None if it has no such field."""
        name = record.key if self._field == "key" else (example.id or "").encode()
        return fingerprint(name) if name else None

    def __contains__(self, mark: int | None) -> bool:
        """Return whether a record with this fingerprint was learned recently."""
        return mark is not None and mark in self._window

    def add(self, mark: int | None) -> None:
        """Note that a record with this fingerprint is learned."""
        if mark is not None and mark not in self._window:
            self._window.add(mark)

    def settle(self, added: int) -> None:
        """Note that the first `added` records are learned."""
        self._settled = added

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {"duplicates": self._window.state(self._settled)} if self.is_active else {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        if "duplicates" in state:
            self._window.restore(state["duplicates"])
            self._settled = self._window.added
