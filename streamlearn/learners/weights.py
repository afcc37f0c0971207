"""The weight arrays of a chain, which grow with the labels, and are trimmed for checkpoints."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.chain.lattice import Weights

_CACHE_LINE_BYTES = 64


def zeros(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return zeros aligned to a cache line, so that few rows extend over one more line than necessary.

    Half of the time of learning is spent on waiting for rows from memory.
    """
    size = math.prod(shape)
    padded = np.zeros(size + _CACHE_LINE_BYTES // 8)
    first = -padded.ctypes.data % _CACHE_LINE_BYTES // 8
    return padded[first : first + size].reshape(shape)


class ChainWeights:
    """`streamlearn.kernels.chain.lattice.Weights`, initially zero.

    All rows of features are reserved at once (untouched pages of zeroed memory cost nothing); the capacity
    for labels grows by a quarter.

    Parameters
    ----------
    max_rows : rows of the node and the edge table.
    planes : arrays of the same shape that are read together, such as weights and the sums of their average.
    second_order : whether triples of labels have weights.
    """

    def __init__(self, max_rows: tuple[int, int], planes: int, second_order: bool = False) -> None:
        self._max_rows = max_rows
        self._planes = planes
        self._second_order = second_order
        self._clear()

    def _clear(self) -> None:
        self.n_labels = 0
        self._used = (0, 1)
        self._allocate(0)

    def _allocate(self, capacity: int) -> None:
        def pairs(rows: int) -> NDArray[np.float64]:
            return zeros((rows, self._planes, 1 + capacity, capacity))

        node_rows, edge_rows = self._max_rows
        node = zeros((node_rows, self._planes, 1, capacity))
        self.arrays = Weights(node, pairs(edge_rows), pairs(capacity if self._second_order else 0))

    def reserve(self, n_labels: int, used: tuple[int, int]) -> None:
        """Make room for `n_labels` labels, and set the number of rows in use."""
        self._used = used
        capacity = self.arrays.node.shape[3]
        if n_labels > capacity:
            kept = self.trimmed()
            self._allocate(max(n_labels, capacity + capacity // 4 + 1))
            self._take(kept)
        self.n_labels = max(n_labels, self.n_labels)

    def _take(self, kept: Weights) -> None:
        for array, old in zip(self.arrays, kept, strict=True):
            rows, _, slots, n = old.shape
            array[:rows, :, :slots, :n] = old

    def fit(self, other: Weights) -> Weights:
        """Return the arrays, replaced by zeros if their capacity for labels differs from that of `other`."""
        capacity = other.node.shape[3]
        if self.arrays.node.shape[3] != capacity:
            self._allocate(capacity)
        return self.arrays

    def trimmed(self) -> Weights:
        """Return the rows and labels in use, as views."""
        node, edge, triple = self.arrays
        n = self.n_labels
        return Weights(
            node[: self._used[0], :, :, :n], edge[: self._used[1], :, : 1 + n, :n], triple[:n, :, : 1 + n, :n]
        )

    def state(self) -> dict[str, Any]:
        """Return the rows and labels in use, as views."""
        return self.trimmed()._asdict()

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state; triples only if the state has as many as this chain, else they begin at 0."""
        self._clear()
        self.reserve(state["node"].shape[3], (len(state["node"]), len(state["edge"])))
        none = self.trimmed().triple
        # A template `T` may have been added or removed since; states of older versions have no triples.
        triple = state.get("triple", none)
        triple = triple if len(triple) == len(none) else none
        self._take(Weights(state["node"], state["edge"], triple))
