"""Stable 64-bit ids of strings, remembered for a bounded number of distinct ones."""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from streamlearn.features.table import FeatureTable
from streamlearn.features.views import View
from streamlearn.kernels.features.strings import hash_strings

# A character that values rarely contain, and for those that do a byte that never occurs in UTF-8.
_SEPARATOR = "\x1f"
_NOT_UTF8 = b"\xff"


def stable_id(text: str) -> int:
    """Hash a string to 64 bits (XXH3), the same in every process and on every machine."""
    return xxhash.xxh3_64_intdigest(text.encode())


# Longer strings are not kept anywhere: a bound on their number is then a bound on bytes.
LONGEST_KEPT = 256


class NameBook:
    """The strings behind ids, kept for inspection only, up to `capacity` short ones; 0 keeps none."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._names: dict[int, bytes] = {}
        # The same in the form of a checkpoint: joining a million strings takes as long as saving the weights.
        self._text = bytearray()
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._names)

    @property
    def keeps(self) -> bool:
        """Whether any are kept."""
        return self._capacity > 0

    def add(self, key: int, text: str) -> None:
        """Remember `text` while there is room."""
        if len(self._names) < self._capacity and len(text) <= LONGEST_KEPT and key not in self._names:
            self._keep(key, text.encode())

    def _keep(self, key: int, name: bytes) -> None:
        self._names[key] = name
        self._text += name
        self._lengths.append(len(name))

    def get(self, key: int) -> str:
        """Return the string, or the id in hexadecimal if it was not kept."""
        name = self._names.get(key)
        return f"#{key:016x}" if name is None else name.decode()

    def state(self, count: int) -> dict[str, NDArray[Any]]:
        """Return the first `count` strings as UTF-8, concatenated, and their lengths.

        The ids themselves are hashes of the strings.
        """
        lengths = np.array(self._lengths[:count], np.uint32)
        end = int(lengths.sum())
        # Copied at once: a bytearray with a memoryview cannot grow.
        return {"text": np.frombuffer(bytes(memoryview(self._text)[:end]), np.uint8), "lengths": lengths}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore the strings."""
        text = state["text"].tobytes()
        ends = np.cumsum(state["lengths"], dtype=np.int64).tolist()
        names = (text[a:b] for a, b in zip([0, *ends], ends, strict=False))
        self._names, self._text, self._lengths = {}, bytearray(), array("I")
        for name in names:
            self._keep(xxhash.xxh3_64_intdigest(name), name)


class NewName(NamedTuple):
    """A string that a cache did not remember: where in the looked up values it came first, and its id."""

    place: int
    key: int
    text: str


class ValueIds:
    """Ids of every view of the values of one column; each distinct value is derived and hashed once.

    Before `capacity` is exceeded, all values are forgotten: ids are hashes, so that only a little time is
    lost, and usage need not be recorded.
    """

    def __init__(self, views: Sequence[View], capacity: int) -> None:
        self._views = views
        # Values are identified by a hash: a new one is confused with a remembered one with a probability of
        # `capacity` / 2**64, which is less than that of two features with the same key.
        self._table = FeatureTable(capacity)
        self.ids: NDArray[np.uint64] = np.zeros((capacity, len(views)), np.uint64)

    def __len__(self) -> int:
        return self._table.size

    def lookup(self, values: Sequence[str]) -> tuple[NDArray[np.uint64], list[NewName]]:
        """Return the ids of values, uint64[len(values), number of views], and the strings behind new ones."""
        # A piece always fits after the values before it are forgotten, even if all of it is new.
        piece = max(1, len(self.ids) // 2)
        hashes, new = _hashes(values), list[NewName]()
        if len(values) <= piece:
            return self._lookup(values, hashes, 0, new), new
        parts = [
            self._lookup(values[at : at + piece], hashes[at : at + piece], at, new)
            for at in range(0, len(values), piece)
        ]
        return np.concatenate(parts), new

    def _lookup(
        self, values: Sequence[str], hashes: NDArray[np.uint64], at: int, new_out: list[NewName]
    ) -> NDArray[np.uint64]:
        if len(self) + len(values) > len(self.ids):
            self._table.clear()
        rows, new = self._table.add(hashes)
        for place in new.tolist():
            for v, view in enumerate(self._views):
                text = view(values[place])
                key = stable_id(text)
                self.ids[rows[place], v] = key
                new_out.append(NewName(at + place, key, text))
        return self.ids[rows]


def _hashes(values: Sequence[str]) -> NDArray[np.uint64]:
    """Hash strings without one call for each."""
    hashes = np.empty(len(values), np.uint64)
    if values:
        text = np.frombuffer(_SEPARATOR.join(values).encode(), np.uint8)
        if hash_strings(text, ord(_SEPARATOR), hashes) != len(values):
            # A value contains the separator.
            text = np.frombuffer(_NOT_UTF8.join([value.encode() for value in values]), np.uint8)
            hash_strings(text, _NOT_UTF8[0], hashes)
    return hashes
