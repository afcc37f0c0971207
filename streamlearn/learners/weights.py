"""The two arrays of weights of a chain, growing with the labels, trimmed for a checkpoint."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class ChainWeights:
    """`node[row, plane, 1, label]` and `edge[row, plane, 1 + y_prev, label]`, zero until learned.

    All rows are reserved at once (untouched pages of zeroed memory cost nothing); labels grow by a quarter.

    Parameters
    ----------
    max_rows : rows of the node and the edge table.
    planes : arrays of one shape that are read together, such as weights and their totals.
    """

    def __init__(self, max_rows: tuple[int, int], planes: int) -> None:
        self._max_rows = max_rows
        self._planes = planes
        self._clear()

    def _clear(self) -> None:
        self.n_labels = 0
        self._used = (0, 1)
        self._allocate(0)

    def _allocate(self, capacity: int) -> None:
        node_rows, edge_rows = self._max_rows
        self.node: NDArray[np.float64] = np.zeros((node_rows, self._planes, 1, capacity))
        self.edge: NDArray[np.float64] = np.zeros((edge_rows, self._planes, 1 + capacity, capacity))

    def reserve(self, n_labels: int, used: tuple[int, int]) -> None:
        """Make room for so many labels, and note how many rows are in use."""
        self._used = used
        capacity = self.node.shape[3]
        if n_labels > capacity:
            node, edge, old = self.node, self.edge, self.n_labels
            self._allocate(max(n_labels, capacity + capacity // 4 + 1))
            self.node[: used[0], :, :, :old] = node[: used[0], :, :, :old]
            self.edge[: used[1], :, : 1 + old, :old] = edge[: used[1], :, : 1 + old, :old]
        self.n_labels = max(n_labels, self.n_labels)

    def trimmed(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """View the rows and labels in use."""
        n = self.n_labels
        return self.node[: self._used[0], :, :, :n], self.edge[: self._used[1], :, : 1 + n, :n]

    def state(self) -> dict[str, Any]:
        """View the rows and labels in use."""
        node, edge = self.trimmed()
        return {"node": node, "edge": edge}

    def restore(self, state: dict[str, Any]) -> None:
        """Take a state back."""
        node, edge = state["node"], state["edge"]
        self._clear()
        self.reserve(node.shape[3], (len(node), len(edge)))
        kept_node, kept_edge = self.trimmed()
        kept_node[:] = node
        kept_edge[:] = edge
