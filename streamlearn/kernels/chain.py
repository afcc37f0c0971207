"""Scores and decoding of a first-order linear chain.

score(x, y) = Σ_t emit[t, y_t] + Σ_{t>0} trans[t, y_{t-1}, y_t]

Weights are two arrays `[row, plane, slot, label]`. In `node` the only slot is 0: the feature fires with a
label. In `edge` slot 0 is the same and slot 1 + y_prev fires with a pair of labels, so that a feature that
has both needs one row; of one that fires with pairs only, slot 0 stays 0. Planes are arrays of one shape
that are read together (weights, and the totals behind their average). All that belongs to a feature is
thus one contiguous run, summed in one sweep. Row 0 of `edge` holds the plain transitions (CRF++'s `B`),
which fire at every position t > 0.

`rows` is a `streamlearn.data.Rows`.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.jit import kernel

# node_sum float64[T, plane · label] and edge_sum float64[T, plane · slot · label]: the active rows added
# up, as many planes as are read; emit float64[T, L]; trans float64[T or 1, L, L]: index 0 alone is used
# where no edge feature depends on the position; best float64[2, L], back int32[T, L], reach float64[L] and
# rivals int32[L] belong to the search.
Lattice = namedtuple("Lattice", "node_sum edge_sum emit trans best back reach rivals")


@kernel
def new_lattice(rows, n_labels, planes, node, edge):
    """Allocate what the longest sequence of `rows` needs, to read the first `planes` of the weights."""
    longest = 1
    for i in range(rows.starts.size - 1):
        longest = max(longest, rows.starts[i + 1] - rows.starts[i])
    rich = rows.edge_rows.size > 0
    return Lattice(
        np.empty((longest, planes * node[0, 0].size)),
        np.empty((longest if rich else 0, planes * edge[0, 0].size)),
        np.empty((longest, n_labels)),
        np.empty((longest if rich else 1, n_labels, n_labels)),
        np.empty((2, n_labels)),
        np.empty((longest, n_labels), np.int32),
        np.empty(n_labels),
        np.empty(n_labels, np.int32),
    )


@kernel
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


@kernel
def gather(rows, first, last, node, edge, lattice):
    """Add up the weights, all planes that are read, of the features of the sequence `first`..`last`."""
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


@kernel
def score(length, n_labels, rich, edge, plane, share, lattice):
    """Turn gathered sums into `lattice.emit` and `lattice.trans`: a plane minus `share` times plane 1.

    `share` is 0 where one plane alone is meant.
    """
    L = n_labels
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


@kernel
def _find_rivals(before, trans, reach, n_labels, rivals_out):
    """Find the previous labels that can win before any label, in ascending order; give how many.

    Let b be the best previous label. One whose own score plus the best of its transitions (`reach`) is
    below min_y before[b] + trans[b, y] loses to b before every y: exactly so, since rounding is monotone.
    """
    b = 0
    for y in range(1, n_labels):
        if before[y] > before[b]:
            b = y
    least = np.inf
    for y in range(n_labels):
        least = min(least, before[b] + trans[b, y])
    found = 0
    for y_prev in range(n_labels):
        if before[y_prev] + reach[y_prev] >= least:
            rivals_out[found] = y_prev
            found += 1
    return found


@kernel
def step(before, trans, rivals, n_rivals, L, now_out, back_out):
    """Find the best previous label before each label, and the score by then; the first of equal rivals."""
    for y in range(L):
        now_out[y] = before[rivals[0]] + trans[rivals[0], y]
        back_out[y] = rivals[0]
    for i in range(1, n_rivals):
        y_prev = rivals[i]
        for y in range(L):
            candidate = before[y_prev] + trans[y_prev, y]
            if candidate > now_out[y]:
                now_out[y] = candidate
                back_out[y] = y_prev


@kernel
def viterbi(lattice, n_labels, rich, path_out):
    """Find the labelling of the highest score; ties go to the lower label, decided from the last position.

    Parameters
    ----------
    rich : whether `lattice.trans` depends on the position; -inf in it forbids.
    path_out : int32[T], T ≥ 1.

    Returns
    -------
    The score of the path.
    """
    L = n_labels
    emit, best, back, rivals = lattice.emit, lattice.best, lattice.back, lattice.rivals
    length = path_out.size
    n_rivals = L
    for y in range(L):
        best[0, y] = emit[0, y]
        rivals[y] = y
        lattice.reach[y] = lattice.trans[0, y, 0]
        for y_next in range(1, L):
            lattice.reach[y] = max(lattice.reach[y], lattice.trans[0, y, y_next])
    for t in range(1, length):
        before, now = best[(t - 1) & 1], best[t & 1]
        trans = lattice.trans[t if rich else 0]
        if not rich:
            n_rivals = _find_rivals(before, trans, lattice.reach, L, rivals)
        step(before, trans, rivals, n_rivals, L, now, back[t])
        for y in range(L):
            now[y] += emit[t, y]
    final = best[(length - 1) & 1]
    y_best = 0
    for y in range(1, L):
        if final[y] > final[y_best]:
            y_best = y
    path_out[length - 1] = y_best
    for t in range(length - 1, 0, -1):
        path_out[t - 1] = back[t, path_out[t]]
    return final[y_best]
