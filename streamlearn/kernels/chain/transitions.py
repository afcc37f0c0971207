"""The transitions of one position at a time, where rows of pairs of labels are lists of cells.

With many labels, transitions to every position of a sequence do not fit into memory. There is one matrix,
which holds those to one position: the plain transitions, and the cells of the rows that are active there. To
move to another position, only what the cells changed is set to the plain transitions again.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.jit import inner_kernel, kernel

# What transitions are computed from: edge_rows, edge_starts and edge_singles of the batch; the cells, with no
# heads where rows are not kept so; plain float64[L, L], the transitions without them, empty then; share
# float64[1]; read int64[3]: where the sequence begins in the batch, the plane, and the position whose
# transitions exist, 0 for the plain ones (position 0 has no transitions).
SparseTransitions = namedtuple("SparseTransitions", "edge_rows edge_starts singles cells plain share read")
FIRST, _PLANE, _CURRENT = 0, 1, 2


@kernel
def new_sparse_transitions(rows, n_labels, cells):
    """Allocate for `cells`; nothing if rows are not kept so."""
    size = n_labels if cells.heads.size else 0
    return SparseTransitions(
        rows.edge_rows,
        rows.edge_starts,
        rows.edge_singles,
        cells,
        np.empty((size, size)),
        np.zeros(1),
        np.zeros(3, np.int64),
    )


@inner_kernel
def add_single_cells(L, length, plane, share, lattice):
    """Note what `transitions_at` is to read, and add the cells of single labels to `emit`."""
    sparse, emit = lattice.sparse, lattice.emit
    sparse.share[0], sparse.read[_PLANE], sparse.read[_CURRENT] = share, plane, 0
    for y_prev in range(L):
        for y in range(L):
            sparse.plain[y_prev, y] = lattice.trans[0, y_prev, y]
    for t in range(length):
        begin = sparse.edge_starts[sparse.read[FIRST] + t]
        for i in range(begin, begin + sparse.singles):
            row = sparse.edge_rows[i]
            c = sparse.cells.heads[row] - 1 if row >= 0 else -1
            while c >= 0:
                y = sparse.cells.places[c, 1]
                if sparse.cells.places[c, 0] == 0 and y < L:
                    emit[t, y] += sparse.cells.values[c, plane]
                    if share:
                        emit[t, y] -= share * sparse.cells.values[c, 1]
                c = sparse.cells.older[c] - 1


@inner_kernel
def transitions_at(lattice, t):
    """Return the index in `lattice.trans` of the transitions to position t > 0, after computing them.

    Only where edge features depend on the position. The transitions are valid until the next call.
    """
    sparse = lattice.sparse
    if sparse.plain.size == 0:
        return t
    if sparse.read[_CURRENT] != t:
        if sparse.read[_CURRENT]:
            _change_transitions(lattice, sparse.read[_CURRENT], False)
        _change_transitions(lattice, t, True)
        sparse.read[_CURRENT] = t
    return 0


@inner_kernel
def _change_transitions(lattice, t, is_added):
    """Add the cells of a position to the plain transitions, or undo that."""
    sparse, trans = lattice.sparse, lattice.trans
    cells, plane, share = sparse.cells, sparse.read[_PLANE], sparse.share[0]
    at, L = sparse.read[FIRST] + t, lattice.trans.shape[1]
    for i in range(sparse.edge_starts[at], sparse.edge_starts[at + 1]):
        row = sparse.edge_rows[i]
        c = cells.heads[row] - 1 if row >= 0 else -1
        while c >= 0:
            y_prev, y = cells.places[c, 0] - 1, cells.places[c, 1]
            if 0 <= y_prev < L and y < L:
                if not is_added:
                    trans[0, y_prev, y] = sparse.plain[y_prev, y]
                elif share:
                    trans[0, y_prev, y] += cells.values[c, plane] - share * cells.values[c, 1]
                else:
                    trans[0, y_prev, y] += cells.values[c, plane]
            c = cells.older[c] - 1
