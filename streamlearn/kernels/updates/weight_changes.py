"""Adding to the weights of the features that fire at one position, and to the plane of their average.

Plane 0 of the weights is w; plane 1 belongs to its average, as `streamlearn.kernels.updates.averaging` says.
Changes of ‖w‖² are added up one by one, so that how the stream is cut into batches changes no bit of it.
"""

import numpy as np

from streamlearn.kernels.chain.cells import add_to_cell
from streamlearn.kernels.jit import inner_kernel


@inner_kernel
def add_step(weights, row, slot, y, step, factor):
    """Add `step` to one weight and `factor` · `step` to plane 1; return the change of weight²."""
    before = weights[row, 0, slot, y]
    weights[row, 0, slot, y] = before + step
    if factor:
        weights[row, 1, slot, y] += factor * step
    return step * (2.0 * before + step)


@inner_kernel
def add_position(change, rows, at, before, now, steps, factor, plain_edges, weights):
    """Move the weights of all features at one position towards the gold labels, away from the predicted ones.

    Parameters
    ----------
    change : of ‖w‖² so far.
    at : the position, counted in the batch.
    before, now : (gold, predicted) labels of the position before and of this one.
    steps : (alone, both, left, right): for features of single labels, and for features of pairs of which both
        labels, only the left or only the right one is replaced by the predicted one. At the first position of
        a sequence the last three are 0.
    factor : plane 1 receives `factor` times each change; there need not be such a plane where it is 0.

    Returns
    -------
    The change of ‖w‖².
    """
    alone, both, left, right = steps
    y, z = now
    pair = both + left + right > 0.0
    if alone:
        weighted = rows.node_values.size > 0
        for i in range(rows.node_starts[at], rows.node_starts[at + 1]):
            row = rows.node_rows[i]
            if row >= 0:
                step = alone * rows.node_values[i] if weighted else alone
                change += add_step(weights.node, row, 0, y, step, factor)
                change += add_step(weights.node, row, 0, z, -step, factor)
    if pair and plain_edges:
        # A number of the same type as other rows: `_add_pairs` is compiled once.
        change = _add_pairs(change, np.int32(0), before, now, steps, factor, weights)
    if rows.edge_rows.size and (alone or pair):
        begin = rows.edge_starts[at]
        for i in range(begin, rows.edge_starts[at + 1]):
            row = rows.edge_rows[i]
            if row >= 0:
                if alone and i < begin + rows.edge_singles:
                    change += _add_edge_step(weights, row, 0, y, alone, factor)
                    change += _add_edge_step(weights, row, 0, z, -alone, factor)
                if pair:
                    change = _add_pairs(change, row, before, now, steps, factor, weights)
    return change


@inner_kernel
def _add_edge_step(weights, row, slot, y, step, factor):
    """Do what `add_step` does in a row of edges, which may be a list of cells."""
    if row and weights.cells.heads.size:
        return add_to_cell(weights.cells, row, slot, y, step, factor)
    return add_step(weights.edge, row, slot, y, step, factor)


@inner_kernel
def _add_pairs(change, row, before, now, steps, factor, weights):
    """Move the weights of one row for the pair of labels at one position; return the change of ‖w‖²."""
    _, both, left, right = steps
    y_prev, z_prev = 1 + before[0], 1 + before[1]
    y, z = now
    change += _add_edge_step(weights, row, y_prev, y, both + left + right, factor)
    if both:
        change += _add_edge_step(weights, row, z_prev, z, -both, factor)
    if left:
        change += _add_edge_step(weights, row, z_prev, y, -left, factor)
    if right:
        change += _add_edge_step(weights, row, y_prev, z, -right, factor)
    return change


@inner_kernel
def add_triples(gold, path, rate, factor, triple):
    """Do w += rate · (Φ(x, gold) − Φ(x, path)) for the triples of labels; return the change of ‖w‖²."""
    change = 0.0
    for t in range(2, gold.size):
        if gold[t] != path[t] or gold[t - 1] != path[t - 1] or gold[t - 2] != path[t - 2]:
            change += add_step(triple, gold[t - 2], 1 + gold[t - 1], gold[t], rate, factor)
            change += add_step(triple, path[t - 2], 1 + path[t - 1], path[t], -rate, factor)
    return change
