"""Stable 64-bit ids of strings, remembered for a bounded number of distinct ones."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from streamlearn.features.views import View


def stable_id(text: str) -> int:
    """Hash a string to 64 bits (XXH3), the same in every process and on every machine."""
    return xxhash.xxh3_64_intdigest(text.encode())


class NameBook:
    """The strings behind ids, kept for inspection only, up to `capacity` of them; 0 keeps none."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._names: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._names)

    @property
    def keeps(self) -> bool:
        """Whether any are kept."""
        return self._capacity > 0

    def add(self, key: int, text: str) -> None:
        """Remember `text` while there is room."""
        if len(self._names) < self._capacity:
            self._names.setdefault(key, text.encode())

    def get(self, key: int) -> str:
        """Give the string, or the id in hexadecimal where it was not kept."""
        name = self._names.get(key)
        return f"#{key:016x}" if name is None else name.decode()

    def state(self, count: int) -> dict[str, NDArray[Any]]:
        """Give the first `count` strings as UTF-8, one after the other, and their lengths.

        The ids themselves are hashes of the strings.
        """
        texts = list(islice(self._names.values(), count))
        return {
            "text": np.frombuffer(b"".join(texts), np.uint8),
            "lengths": np.array([len(text) for text in texts], np.uint32),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Take the strings back."""
        text = state["text"].tobytes()
        ends = np.cumsum(state["lengths"], dtype=np.int64).tolist()
        names = (text[a:b] for a, b in zip([0, *ends], ends, strict=False))
        self._names = {xxhash.xxh3_64_intdigest(name): name for name in names}


class ValueIds(dict[str, int]):
    """Ids of every view of the values of one column; each distinct value is derived and hashed once.

    Maps a value to a row of `self.ids`. Before `capacity` could be exceeded, all values are forgotten: ids
    are hashes, so nothing but a little time is lost, and no use has to be recorded.
    """

    def __init__(self, views: Sequence[View], capacity: int, names: NameBook) -> None:
        super().__init__()
        self._views = views
        self._names = names
        self.ids: NDArray[np.uint64] = np.zeros((capacity, len(views)), np.uint64)

    def __missing__(self, value: str) -> int:
        row = len(self)
        for v, view in enumerate(self._views):
            text = view(value)
            key = stable_id(text)
            self.ids[row, v] = key
            self._names.add(key, text)
        self[value] = row
        return row

    def lookup(self, values: Sequence[str]) -> NDArray[np.uint64]:
        """Give the ids of many values, uint64[len(values), number of views]."""
        capacity = len(self.ids)
        out = np.empty((len(values), len(self._views)), np.uint64)
        # A piece fits after the check, whatever is new in it.
        piece = max(1, capacity // 2)
        for at in range(0, len(values), piece):
            part = values[at : at + piece]
            if len(self) + len(part) > capacity:
                self.clear()
            rows = np.fromiter(map(self.__getitem__, part), np.intp, len(part))
            out[at : at + piece] = self.ids[rows]
        return out
