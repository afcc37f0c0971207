"""The weight arrays of a chain, which grow with the labels, and are trimmed for checkpoints."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.errors import ConfigError
from streamlearn.kernels.chain.cells import NO_CELLS, Cells, take_dense, write_dense
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.learners.room import Room

_CACHE_LINE_BYTES = 64
_ARRAYS = ("node", "edge", "triple")


def zeros(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return zeros aligned to a cache line, so that few rows extend over one more line than necessary.

    Half of the time of learning is spent on waiting for rows from memory.

    Raises
    ------
    ConfigError : this machine does not have as much memory.
    """
    size = math.prod(shape)
    try:
        padded = np.zeros(size + _CACHE_LINE_BYTES // 8)
    except MemoryError:
        raise ConfigError(
            f"this machine cannot reserve {8 * size / 2**30:.1f} GiB for weights: lower features.memory"
        ) from None
    first = -padded.ctypes.data % _CACHE_LINE_BYTES // 8
    return padded[first : first + size].reshape(shape)


def zeros_like(weights: Weights) -> Weights:
    """Return zeros of one plane, otherwise of the shape of `weights`: for sums between two sequences."""
    node, edge, triple = (zeros((len(array), 1, *array.shape[2:])) for array in weights[:3])
    return Weights(node, edge, triple)


def fitting(scratch: Weights, weights: Weights) -> Weights:
    """Return arrays of `zeros_like`, or new ones if `weights` have got room for more labels since."""
    return scratch if scratch.node.shape[2:] == weights.node.shape[2:] else zeros_like(weights)


class ChainWeights:
    """`streamlearn.kernels.chain.lattice.Weights`, initially zero.

    All rows that have room are reserved at once (untouched pages of zeroed memory cost nothing); the capacity
    for labels grows by a quarter. Where more labels leave less room, the newest rows are dropped.

    Parameters
    ----------
    room : for rows, by the number of labels.
    planes : arrays of the same shape that are read together, such as weights and the sums of their average.
    """

    def __init__(self, room: Room, planes: int) -> None:
        self._room = room
        self._planes = planes
        self._clear()

    def _clear(self) -> None:
        self.n_labels = 0
        self._used = (0, 1)
        self.arrays = self._allocated(0, 0)

    def _allocated(self, capacity: int, n_labels: int) -> Weights:
        def pairs(rows: int) -> NDArray[np.float64]:
            return zeros((rows, self._planes, 1 + capacity, capacity))

        node_rows, edge_rows = self._room.rows(n_labels)
        is_sparse = self._room.sparse(n_labels)
        return Weights(
            zeros((node_rows, self._planes, 1, capacity)),
            pairs(1 if is_sparse else edge_rows),
            pairs(capacity if self._room.second_order else 0),
            self._cells(edge_rows, 0) if is_sparse else NO_CELLS,
        )

    def _cells(self, rows: int, size: int) -> Cells:
        return Cells(
            np.zeros(rows, np.int32),
            np.zeros(size, np.int32),
            np.zeros((size, 2), np.int32),
            zeros((size, self._planes)),
            np.zeros(2, np.int64),
        )

    def reserve(self, n_labels: int, used: tuple[int, int], changes: int = 0) -> None:
        """Make room for what a batch brings.

        Parameters
        ----------
        n_labels : labels.
        used : rows in use; those without room are not.
        changes : weights of pairs that updates may change.
        """
        capacity = self.arrays.node.shape[3]
        if n_labels > capacity or self._room.sparse(n_labels) > self._room.sparse(self.n_labels):
            capacity = capacity if n_labels <= capacity else max(n_labels, capacity + capacity // 4 + 1)
            kept, self.arrays = self.trimmed(), self._allocated(capacity, n_labels)
            self._take(kept)
        self.n_labels = max(n_labels, self.n_labels)
        node, edge = self._room.rows(self.n_labels)
        self._used = min(used[0], node), min(used[1], edge)
        if self._room.sparse(self.n_labels):
            self._reserve_cells(int(self.arrays.cells.counts[0]) + changes)

    def _reserve_cells(self, wanted: int) -> None:
        """Make room for this number of cells, as far as memory allows; it grows by a quarter."""
        old, most = self.arrays.cells, self._room.cells(self.n_labels)
        size, used = len(old.older), int(old.counts[0])
        if wanted <= size or size >= most:
            return
        cells = self._cells(len(old.heads), min(max(wanted, size + size // 4), most))
        cells.heads[:], cells.counts[:] = old.heads, old.counts
        for name in ("older", "places", "values"):
            getattr(cells, name)[:used] = getattr(old, name)[:used]
        self.arrays = self.arrays._replace(cells=cells)

    def _take(self, kept: Weights) -> None:
        for array, old in zip(self.arrays[:3], kept[:3], strict=True):
            _, _, slots, n = old.shape
            rows = min(len(old), len(array))
            array[:rows, :, :slots, :n] = old[:rows]
        if len(kept.cells.heads):
            self.arrays = self.arrays._replace(cells=kept.cells)
        elif len(self.arrays.cells.heads):
            size = int(np.count_nonzero(kept.edge[1:]))
            self.arrays = self.arrays._replace(cells=self._cells(len(self.arrays.cells.heads), size))
            take_dense(kept.edge, self.arrays.cells)

    def trimmed(self) -> Weights:
        """Return the rows and labels in use, as views; cells as they are."""
        node, edge, triple, cells = self.arrays
        n = self.n_labels
        return Weights(
            node[: self._used[0], :, :, :n],
            edge[: self._used[1], :, : 1 + n, :n],
            triple[:n, :, : 1 + n, :n],
            cells,
        )

    def state(self) -> dict[str, Any]:
        """Return the rows, labels and cells in use, as views."""
        weights = self.trimmed()
        state: dict[str, Any] = {name: getattr(weights, name) for name in _ARRAYS}
        heads, older, places, values, counts = weights.cells
        if len(heads):
            size = int(counts[0])
            state["cells"] = {
                "heads": heads[: self._used[1]], "older": older[:size], "places": places[:size],
                "values": values[:size], "counts": counts,
            }  # fmt: skip
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state; triples only if the state has as many as this chain, else they begin at 0."""
        self._clear()
        cells = state.get("cells")
        edge_rows = len(state["edge"] if cells is None else cells["heads"])
        self.reserve(state["node"].shape[3], (len(state["node"]), edge_rows))
        none = self.trimmed().triple
        # A template `T` may have been added or removed since; states of older versions have no triples.
        triple = state.get("triple", none)
        triple = triple if len(triple) == len(none) else none
        kept = Weights(state["node"], state["edge"], triple)
        self._take(kept if cells is None else kept._replace(cells=self._restored(cells)))

    def _restored(self, saved: dict[str, NDArray[Any]]) -> Cells:
        cells = self._cells(len(self.arrays.cells.heads), len(saved["older"]))
        cells.heads[: len(saved["heads"])] = saved["heads"]
        for name in ("older", "places", "values", "counts"):
            getattr(cells, name)[:] = saved[name]
        return cells


def rows_in(state: dict[str, Any]) -> tuple[int, int]:
    """Return the rows of the node and of the edge weights in the state of a learner of a chain."""
    # A learner that replays holds the state of another one.
    weights = state.get("learner", state)["weights"]
    return len(weights["node"]), len(weights["cells"]["heads"] if "cells" in weights else weights["edge"])


def edge_weights(weights: Weights, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return some rows of the edge weights, float64[R, plane, slot, label], also where they are cells."""
    if not len(weights.cells.heads):
        return weights.edge[rows]
    found = np.empty((len(rows), *weights.edge.shape[1:]))
    write_dense(rows, weights.cells, found)
    found[rows == 0] = weights.edge[0]
    return found


def largest(weights: NDArray[np.float64], count: int) -> list[int]:
    """Return the numbers of the rows with the largest |weight| of float64[R], in no order."""
    count = min(count, len(weights))
    return np.argpartition(-np.abs(weights), count - 1)[:count].tolist() if count else []
