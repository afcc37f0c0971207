"""Copying a state quickly between two records, while learning waits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Copier:
    """Copies trees of arrays into buffers that it reuses for the next copy.

    The first write to fresh memory costs several times as much as the copy itself. So each array has a buffer
    of the size of its base array (all reserved rows), whose pages are already touched as the array grows.
    Only one copy exists at a time: the next one overwrites it.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[Any]] = {}

    def copy(self, tree: Any, path: str = "") -> Any:
        """Return the tree with every writable array copied; read-only arrays are shared."""
        if isinstance(tree, dict):
            return {name: self.copy(value, f"{path}/{name}") for name, value in tree.items()}
        if isinstance(tree, np.ndarray) and tree.flags.writeable:
            return self._copy(tree, path)
        return tree

    def _copy(self, array: NDArray[Any], path: str) -> NDArray[Any]:
        whole = array if array.base is None else array.base
        if not (isinstance(whole, np.ndarray) and whole.flags.c_contiguous and whole.dtype == array.dtype):
            return array.copy()
        buffer = self._buffers.get(path)
        if buffer is None or (buffer.shape, buffer.dtype) != (whole.shape, whole.dtype):
            buffer = self._buffers[path] = np.empty_like(whole)
        offset = array.ctypes.data - whole.ctypes.data
        duplicate: NDArray[Any] = np.ndarray(array.shape, array.dtype, buffer, offset, array.strides)
        np.copyto(duplicate, array)
        return duplicate
