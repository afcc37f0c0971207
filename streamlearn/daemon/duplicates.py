"""What was learned lately, so that a record that a producer sent twice is learned once."""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Example, Record


def fingerprint(name: bytes) -> int:
    """Hash a key or an id to 64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")


Field = Literal["key", "id"]


class Window:
    """The fingerprints of the last records; those that were read ahead can be left out.

    Parameters
    ----------
    size : fingerprints that count.
    ahead : how many may be added after the last of those that `state` is asked for.

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
        """Tell whether it counts."""
        return found in self._known

    def add(self, new: int) -> None:
        """Add one that is not there; the oldest goes."""
        if self.added >= self._size:
            self._known.remove(int(self._ring[(self.added - self._size) % len(self._ring)]))
        self._ring[self.added % len(self._ring)] = new
        self._known.add(new)
        self.added += 1

    def state(self, added: int) -> NDArray[np.uint64]:
        """Give those that counted when `added` had been added, oldest first."""
        places = np.arange(max(0, added - self._size), added) % len(self._ring)
        return self._ring[places]

    def restore(self, state: NDArray[Any]) -> None:
        """Continue from a state; of a larger window the newest count."""
        self._known.clear()
        self.added = 0
        for each in state[-self._size :].tolist():
            self.add(each)


class Duplicates:
    """Tells which records were learned lately, by their key or by the id that the producer gave the sequence.

    Only what is learned counts, so that a record that was refused may come again. Reading runs ahead of
    learning: a state is of what `settle` was told last.

    Parameters
    ----------
    field : what makes two records the same; records without it are never duplicates. None for no look at all.
    size : records that are remembered; 64-bit hashes of them, so that one in 2⁶⁴ / size is mistaken.
    ahead : the most records that are read and not settled.
    """

    def __init__(self, field: Field | None = None, size: int = 1, ahead: int = 1) -> None:
        self._field = field
        self._window = Window(size, ahead)
        self._settled = 0

    @property
    def is_active(self) -> bool:
        """Whether there is anything to look for."""
        return self._field is not None

    @property
    def added(self) -> int:
        """How many were learned, or are about to be."""
        return self._window.added

    def mark_of(self, record: Record, example: Example) -> int | None:
        """Give the fingerprint of a record, None if it has none."""
        name = record.key if self._field == "key" else (example.id or "").encode()
        return fingerprint(name) if name else None

    def __contains__(self, mark: int | None) -> bool:
        """Tell whether it was learned lately."""
        return mark is not None and mark in self._window

    def add(self, mark: int | None) -> None:
        """Note that it is learned."""
        if mark is not None and mark not in self._window:
            self._window.add(mark)

    def settle(self, added: int) -> None:
        """Note that all that had been added by then is learned."""
        self._settled = added

    def state(self) -> dict[str, Any]:
        """Give what a checkpoint keeps."""
        return {"duplicates": self._window.state(self._settled)} if self.is_active else {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        if "duplicates" in state:
            self._window.restore(state["duplicates"])
            self._settled = self._window.added
