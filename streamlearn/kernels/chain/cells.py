"""Weights of pairs of labels that are kept only for the pairs that an update has changed.

With hundreds of labels a row for all pairs of labels takes megabytes, nearly all of them 0. Such rows are
lists of cells instead: learners whose updates change a few weights compute the same with both.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.arrays import Floats, Int32s, Int64s
from streamlearn.kernels.jit import inner_kernel, kernel


class Cells(NamedTuple):
    """The cells of all rows: of each row a list, the newest first. No heads mean that rows are not kept so.

    Attributes
    ----------
    heads : int32[row], 1 + the newest cell, 0 for none.
    older : int32[cell], 1 + the cell of the same row before it, 0 for none.
    places : int32[cell, 2], slot and label, as in `streamlearn.kernels.chain.lattice`.
    values : float64[cell, plane].
    counts : int64[2], cells in use, and changes that were refused because all cells were.
    """

    heads: Int32s
    older: Int32s
    places: Int32s
    values: Floats
    counts: Int64s


NO_CELLS = Cells(
    np.empty(0, np.int32),
    np.empty(0, np.int32),
    np.empty((0, 2), np.int32),
    np.empty((0, 0)),
    np.zeros(2, np.int64),
)


@inner_kernel
def add_to_cell(cells, row, slot, y, step, factor):
    """Add `step` to a weight and `factor` · `step` to plane 1; return the change of weight²."""
    c = cells.heads[row] - 1
    while c >= 0 and (cells.places[c, 0] != slot or cells.places[c, 1] != y):
        c = cells.older[c] - 1
    if c < 0:
        c = cells.counts[0]
        if c == cells.older.size:
            cells.counts[1] += 1
            return 0.0
        cells.counts[0] += 1
        cells.places[c, 0], cells.places[c, 1] = slot, y
        cells.older[c] = cells.heads[row]
        cells.heads[row] = c + 1
    before = cells.values[c, 0]
    cells.values[c, 0] = before + step
    if factor:
        cells.values[c, 1] += factor * step
    return step * (2.0 * before + step)


@kernel
def take_dense(weights: Floats, cells: Cells) -> None:
    """Append a cell for each weight of `weights` float64[row, plane, slot, label] but those of only zeros.

    There must be room for them. Row 0 is left out: it is never kept in cells.
    """
    for row in range(1, weights.shape[0]):
        for slot in range(weights.shape[2]):
            for y in range(weights.shape[3]):
                if (weights[row, :, slot, y] != 0.0).any():
                    c = cells.counts[0]
                    cells.counts[0] += 1
                    cells.places[c, 0], cells.places[c, 1] = slot, y
                    cells.values[c] = weights[row, :, slot, y]
                    cells.older[c] = cells.heads[row]
                    cells.heads[row] = c + 1


@kernel
def write_dense(rows: Int32s, cells: Cells, weights_out: Floats) -> None:
    """Write the weights of some rows int32[R] to `weights_out` float64[R, plane, slot, label]."""
    weights_out[:] = 0.0
    for i in range(rows.size):
        c = cells.heads[rows[i]] - 1
        while c >= 0:
            slot, y = cells.places[c]
            if slot < weights_out.shape[2] and y < weights_out.shape[3]:
                weights_out[i, :, slot, y] = cells.values[c]
            c = cells.older[c] - 1
