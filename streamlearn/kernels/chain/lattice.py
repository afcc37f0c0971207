"""Scores of a linear chain, of the first or the second order.

score(x, y) = Σ_t emit[t, y_t] + Σ_{t>0} trans[t, y_{t-1}, y_t] + Σ_{t>1} triple[y_{t-2}, y_{t-1}, y_t]

Weights are arrays `[row, plane, slot, label]`. In `node` the only slot is 0: the feature fires with a
label. In `edge` slot 0 is the same and slot 1 + y_prev fires with a pair of labels, so that a feature that
has both needs one row; of one that fires with pairs only, slot 0 stays 0. Planes are arrays of one shape
that are read together (weights, and the totals behind their average). All that belongs to a feature is
thus one contiguous run, summed in one sweep. Row 0 of `edge` holds the plain transitions (CRF++'s `B`),
which fire at every position t > 0.

`triple` is laid out as `edge` is, for the features "y_{t-2} is y", of pairs only: row y_{t-2}, slot
1 + y_{t-1}. They fire at every t > 1: there are no labels before the first (Collins 2002 has start symbols;
what they say, features of the first positions say). A chain of the first order has none of these rows.

`rows` is a `streamlearn.data.Rows`.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.chain.viterbi import new_trellis
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.sizes import longest_sequence


class Weights(NamedTuple):
    """The weights of a chain, or anything of their shape; no row of `triple` makes it one of the first order.

    Attributes
    ----------
    node : float64[row, plane, 1, label].
    edge : float64[row, plane, 1 + y_prev, label].
    triple : float64[label or 0, plane, 1 + y_prev, label].
    """

    node: NDArray[np.float64]
    edge: NDArray[np.float64]
    triple: NDArray[np.float64]


# node_sum float64[T, plane · label] and edge_sum float64[T, plane · slot · label]: the active rows added
# up, as many planes as are read; emit float64[T, L]; trans float64[T or 1, L, L]: index 0 alone is used
# where no edge feature depends on the position; triple float64[L or 0, L, L], [y_{t-1}, y_{t-2}, y_t]: the
# label in the middle first, since what it is given leaves steps from y_{t-2} to y_t as of a first-order
# chain; trellis: room for `streamlearn.kernels.chain.viterbi`.
Lattice = namedtuple("Lattice", "node_sum edge_sum emit trans triple trellis")


@kernel
def new_lattice(rows, n_labels, planes, weights):
    """Allocate what the longest sequence of `rows` needs, to read the first `planes` of the weights."""
    longest = longest_sequence(rows.starts)
    rich = rows.edge_rows.size > 0
    middles = n_labels if weights.triple.size else 0
    return Lattice(
        np.empty((longest, planes * weights.node[0, 0].size)),
        np.empty((longest if rich else 0, planes * weights.edge[0, 0].size)),
        np.empty((longest, n_labels)),
        np.empty((longest if rich else 1, n_labels, n_labels)),
        np.empty((middles, n_labels, n_labels)),
        new_trellis(longest, n_labels, middles),
    )


@inner_kernel
def _sum_rows(weights, rows, values, out):
    """Add up the rows of `weights` float64[R, S] that are active at one position, as much as fits `out`."""
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
    """Add up the weights, all planes that are read, of the features of the sequence `first`..`last`."""
    node, edge = weights.node, weights.edge
    flat_node = node.reshape(node.shape[0], node[0].size)
    flat_edge = edge.reshape(edge.shape[0], edge[0].size)
    weighted = rows.node_values.size > 0
    for t in range(last - first):
        begin, end = rows.node_starts[first + t], rows.node_starts[first + t + 1]
        values = rows.node_values[begin:end] if weighted else rows.node_values
        _sum_rows(flat_node, rows.node_rows[begin:end], values, lattice.node_sum[t])
        if rows.edge_rows.size:
            begin, end = rows.edge_starts[first + t], rows.edge_starts[first + t + 1]
            _sum_rows(flat_edge, rows.edge_rows[begin:end], rows.node_values[:0], lattice.edge_sum[t])


@inner_kernel
def score(length, n_labels, rich, weights, plane, share, lattice):
    """Turn gathered sums into the scores of `lattice`: a plane minus `share` times plane 1.

    `share` is 0 where one plane alone is meant.
    """
    L, edge = n_labels, weights.edge
    slots, capacity = edge.shape[2:]
    emit, trans = lattice.emit, lattice.trans
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
    """Give the score of one labelling, int32[T]."""
    total = lattice.emit[0, labels[0]]
    for t in range(1, labels.size):
        total += lattice.trans[t if rich else 0, labels[t - 1], labels[t]] + lattice.emit[t, labels[t]]
        if t > 1 and lattice.triple.size:
            total += lattice.triple[labels[t - 1], labels[t - 2], labels[t]]
    return total
