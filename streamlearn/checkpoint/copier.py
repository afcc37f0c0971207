"""Copying a state between two records, fast: learning waits for it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Copier:
    """Copies trees of arrays into memory that it keeps from one copy to the next.

    Memory that is touched for the first time costs several times what copying into it costs; so each array
    has a room of the size of what it is a part of, such as all rows that were reserved, whose pages are
    touched as the array grows. One copy exists at a time: the next one overwrites it.
    """

    def __init__(self) -> None:
        self._rooms: dict[str, NDArray[Any]] = {}

    def copy(self, tree: Any, path: str = "") -> Any:
        """Return the tree with every array copied; those that are not writable are passed on as they are."""
        if isinstance(tree, dict):
            return {name: self.copy(value, f"{path}/{name}") for name, value in tree.items()}
        if isinstance(tree, np.ndarray) and tree.flags.writeable:
            return self._copy(tree, path)
        return tree

    def _copy(self, array: NDArray[Any], path: str) -> NDArray[Any]:
        whole = array if array.base is None else array.base
        if not (isinstance(whole, np.ndarray) and whole.flags.c_contiguous and whole.dtype == array.dtype):
            return array.copy()
        room = self._rooms.get(path)
        if room is None or (room.shape, room.dtype) != (whole.shape, whole.dtype):
            room = self._rooms[path] = np.empty_like(whole)
        offset = array.ctypes.data - whole.ctypes.data
        duplicate: NDArray[Any] = np.ndarray(array.shape, array.dtype, room, offset, array.strides)
        np.copyto(duplicate, array)
        return duplicate
