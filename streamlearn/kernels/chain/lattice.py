"""Scores of a linear chain, of the first or the second order.

score(x, y) = Σ_t emit[t, y_t] + Σ_{t>0} trans[t, y_{t-1}, y_t] + Σ_{t>1} triple[y_{t-2}, y_{t-1}, y_t]

Weights are arrays `[row, plane, slot, label]`. In `node` the only slot is 0: the feature fires with a
label. In `edge` slot 0 is the same and slot 1 + y_prev fires with a pair of labels, so that a feature of both
kinds needs one row; for one that fires with pairs only, slot 0 stays 0. Planes are arrays of the same shape
that are read together (weights, and the sums behind their average). All values of a feature are thus
contiguous, and added in one sweep. Row 0 of `edge` holds the plain transitions (CRF++'s `B`), which fire at
every position t > 0.

`triple` is laid out as `edge` is, for the features "y_{t-2} is y", of pairs only: row y_{t-2}, slot
1 + y_{t-1}. They fire at every t > 1: there are no labels before the first (Collins 2002 has start symbols;
here, features of the first positions express the same). A chain of the first order has none of these rows.

Edge features are `rich` where any of them depends on the position: each position then has transitions of its
own. Where their rows are lists of cells (`streamlearn.kernels.chain.cells`), the transitions of only one
position exist at a time (`streamlearn.kernels.chain.transitions`).

`rows` is a `streamlearn.data.Rows`.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from streamlearn.kernels.arrays import Floats
from streamlearn.kernels.chain.cells import NO_CELLS, Cells
from streamlearn.kernels.chain.transitions import (
    FIRST,
    add_single_cells,
    new_sparse_transitions,
    transitions_at,
)
from streamlearn.kernels.chain.viterbi import new_trellis
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.sizes import longest_sequence


class Weights(NamedTuple):
    """The weights of a chain, or anything of their shape; no row of `triple` makes it one of the first order.

    Attributes
    ----------
    node : float64[row, plane, 1, label].
    edge : float64[row, plane, 1 + y_prev, label]; row 0 alone if the others are in `cells`.
    triple : float64[label or 0, plane, 1 + y_prev, label].
    cells : the rows of `edge` from row 1 on, if there are too many labels.
    """

    node: Floats
    edge: Floats
    triple: Floats
    cells: Cells = NO_CELLS


# node_sum float64[T, plane · label] and edge_sum float64[T, plane · slot · label]: sums of the active rows,
# in all planes that are read; emit float64[T, L]; trans float64[T or 1, L, L]: of each position if rich, else
# only index 0 is used (`transitions_at` returns the index); sparse: SparseTransitions; triple float64[L or 0,
# L, L], [y_{t-1}, y_{t-2}, y_t]: the label in the middle first, since for a fixed one the steps from y_{t-2}
# to y_t are those of a first-order chain; trellis: working arrays of `streamlearn.kernels.chain.viterbi`.
Lattice = namedtuple("Lattice", "node_sum edge_sum emit trans sparse triple trellis")


@kernel
def new_lattice(rows, n_labels, planes, weights):
    """Allocate for the longest sequence of `rows`; the first `planes` of the weights are read."""
    longest = longest_sequence(rows.starts)
    is_sparse = weights.cells.heads.size > 0
    rich = rows.edge_rows.size > 0 and not is_sparse
    middles = n_labels if weights.triple.size else 0
    return Lattice(
        np.empty((longest, planes * weights.node[0, 0].size)),
        np.empty((longest if rich else 0, planes * weights.edge[0, 0].size)),
        np.empty((longest, n_labels)),
        np.empty((longest if rich else 1, n_labels, n_labels)),
        new_sparse_transitions(rows, n_labels, weights.cells),
        np.empty((middles, n_labels, n_labels)),
        new_trellis(longest, n_labels, middles),
    )


@inner_kernel
def _sum_rows(weights, rows, values, out):
    """Sum the rows of `weights` float64[R, S] that are active at one position, up to the size of `out`."""
    out[:] = 0.0
    for i in range(rows.size):
        row = rows[i]
        if row >= 0:
            if values.size:
                for s in range(out.size):
                    out[s] += values[i] * weights[row, s]
            else:
                for s in range(out.size):
                    out[s] += weights[row, s]


@inner_kernel
def gather(rows, first, last, weights, lattice):
    """Sum the active rows at each position of the sequence `first`..`last`, in all planes that are read.

    Cells are read where the transitions of a position are needed.
    """
    lattice.sparse.read[FIRST] = first
    node, edge = weights.node, weights.edge
    flat_node = node.reshape(node.shape[0], node[0].size)
    flat_edge = edge.reshape(edge.shape[0], edge[0].size)
    weighted = rows.node_values.size > 0
    for t in range(last - first):
        begin, end = rows.node_starts[first + t], rows.node_starts[first + t + 1]
        values = rows.node_values[begin:end] if weighted else rows.node_values
        _sum_rows(flat_node, rows.node_rows[begin:end], values, lattice.node_sum[t])
        if lattice.edge_sum.shape[0]:
            begin, end = rows.edge_starts[first + t], rows.edge_starts[first + t + 1]
            _sum_rows(flat_edge, rows.edge_rows[begin:end], rows.node_values[:0], lattice.edge_sum[t])


@inner_kernel
def score(length, n_labels, rich, weights, plane, share, lattice):
    """Compute the scores of `lattice` from gathered sums: of a plane, minus `share` times plane 1.

    A `share` of 0 reads one plane only.
    """
    L, edge = n_labels, weights.edge
    slots, capacity = edge.shape[2:]
    emit, trans = lattice.emit, lattice.trans
    is_sparse = lattice.sparse.plain.size > 0
    rich = rich and not is_sparse
    for t in range(length if rich else 1):
        for y_prev in range(L):
            for y in range(L):
                trans[t, y_prev, y] = edge[0, plane, 1 + y_prev, y]
                if share:
                    trans[t, y_prev, y] -= share * edge[0, 1, 1 + y_prev, y]
    for t in range(length):
        sums = lattice.node_sum[t]
        first = plane * capacity
        for y in range(L):
            emit[t, y] = sums[first + y]
            if share:
                emit[t, y] -= share * sums[capacity + y]
        if rich:
            sums = lattice.edge_sum[t]
            second = slots * capacity
            first = plane * second
            for y in range(L):
                emit[t, y] += sums[first + y]
                if share:
                    emit[t, y] -= share * sums[second + y]
            for y_prev in range(L):
                at = (1 + y_prev) * capacity
                for y in range(L):
                    trans[t, y_prev, y] += sums[first + at + y]
                    if share:
                        trans[t, y_prev, y] -= share * sums[second + at + y]
    if is_sparse:
        add_single_cells(L, length, plane, share, lattice)
    if length > 2:
        _score_triples(L, weights.triple, plane, share, lattice.triple)


@inner_kernel
def _score_triples(L, weights, plane, share, out):
    for y_prev in range(min(L, out.shape[0])):
        for y_prev2 in range(L):
            for y in range(L):
                out[y_prev, y_prev2, y] = weights[y_prev2, plane, 1 + y_prev, y]
                if share:
                    out[y_prev, y_prev2, y] -= share * weights[y_prev2, 1, 1 + y_prev, y]


@inner_kernel
def chain_score(lattice, labels, rich):
    """Return the score of one labelling, int32[T]."""
    total = lattice.emit[0, labels[0]]
    for t in range(1, labels.size):
        k = transitions_at(lattice, t) if rich else 0
        total += lattice.trans[k, labels[t - 1], labels[t]] + lattice.emit[t, labels[t]]
        if t > 1 and lattice.triple.size:
            total += lattice.triple[labels[t - 1], labels[t - 2], labels[t]]
    return total
