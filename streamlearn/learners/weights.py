"""The arrays of weights of a chain, growing with the labels, trimmed for a checkpoint."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.chain.lattice import Weights

_CACHE_LINE_BYTES = 64


def zeros(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Give zeros that begin with a cache line, so that few rows need one line more than they fill.

    Learning waits for rows from memory as long as it computes.
    """
    size = math.prod(shape)
    room = np.zeros(size + _CACHE_LINE_BYTES // 8)
    first = -room.ctypes.data % _CACHE_LINE_BYTES // 8
    return room[first : first + size].reshape(shape)


class ChainWeights:
    """`streamlearn.kernels.chain.lattice.Weights`, zero until learned.

    All rows of features are reserved at once (untouched pages of zeroed memory cost nothing); labels grow by
    a quarter.

    Parameters
    ----------
    max_rows : rows of the node and the edge table.
    planes : arrays of one shape that are read together, such as weights and their totals.
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
        """Make room for so many labels, and note how many rows are in use."""
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
        """Give the arrays, made anew as zeros where they have not room for the same labels as `other`."""
        capacity = other.node.shape[3]
        if self.arrays.node.shape[3] != capacity:
            self._allocate(capacity)
        return self.arrays

    def trimmed(self) -> Weights:
        """View the rows and labels in use."""
        node, edge, triple = self.arrays
        n = self.n_labels
        return Weights(
            node[: self._used[0], :, :, :n], edge[: self._used[1], :, : 1 + n, :n], triple[:n, :, : 1 + n, :n]
        )

    def state(self) -> dict[str, Any]:
        """View the rows and labels in use."""
        return self.trimmed()._asdict()

    def restore(self, state: dict[str, Any]) -> None:
        """Take a state back; of triples only if there are as many here and there, else they begin at 0."""
        self._clear()
        self.reserve(state["node"].shape[3], (len(state["node"]), len(state["edge"])))
        none = self.trimmed().triple
        # A template `T` may have come or gone since, and states of before there were triples lack them.
        triple = state.get("triple", none)
        triple = triple if len(triple) == len(none) else none
        self._take(Weights(state["node"], state["edge"], triple))
