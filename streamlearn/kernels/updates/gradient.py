"""One step up the gradient of log P(gold | x): what all learners of CRFs have in common.

The gradient is what is observed minus what is expected. It is laid out as the weights are, `[slot, label]`
in one run for each position, so that a row's update is one sweep however many slots it has.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.chain.lattice import chain_score, gather, new_lattice, score
from streamlearn.kernels.chain.marginals_second_order import expect, new_expected
from streamlearn.kernels.chain.mask import best_labelling
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.sizes import most_active

# node float64[T, label], edge float64[T or 1, slot · label]: the gradient at each position, of pairs summed
# into index 0 where no edge feature depends on the position; triple float64[row, slot · label]: of triples,
# summed; node_steps, edge_steps, plain_steps float64[1], triple_steps float64[·]: how far each active row of
# the sequence goes along it, and the plain transitions, which are not learned where that is 0; fixed
# int32[·]: 0, 1, …, the rows that no feature stands for: of edge the first, of triple all.
Ascent = namedtuple(
    "Ascent", "lattice expected node edge triple node_steps edge_steps plain_steps triple_steps fixed"
)


@kernel
def new_ascent(rows, n_labels, planes, weights):
    """Allocate what the longest sequence of `rows` needs; `planes` of the weights are read."""
    lattice = new_lattice(rows, n_labels, planes, weights)
    contexts = weights.triple.shape[0]
    return Ascent(
        lattice,
        new_expected(lattice),
        np.empty_like(lattice.emit),
        np.zeros((lattice.trans.shape[0], weights.edge[0, 0].size)),
        np.zeros((contexts, weights.edge[0, 0].size)),
        np.empty(most_active(rows.starts, rows.node_starts)),
        np.empty(most_active(rows.starts, rows.edge_starts) if rows.edge_rows.size else 0),
        np.zeros(1),
        np.empty(contexts),
        np.arange(max(1, contexts)).astype(np.int32),
    )


@kernel
def predict_and_differentiate(batch, i, known, plane, share, weights, ascent):
    """Label a sequence, then find the gradient at the last weights.

    Parameters
    ----------
    batch : Pass, whose `predicted_out` is written; i : the sequence.
    known : labels that may be predicted.
    plane, share : which weights predict, as for `streamlearn.kernels.chain.lattice.score`.

    Returns
    -------
    -log P(gold | x).
    """
    rows, mask, n_labels = batch.rows, batch.mask, batch.labels_known[i]
    first, last = rows.starts[i], rows.starts[i + 1]
    gold, path_out = batch.labels[first:last], batch.predicted_out[first:last]
    lattice, length, rich = ascent.lattice, gold.size, rows.edge_rows.size > 0
    gather(rows, first, last, weights, lattice)
    if known:
        best_labelling(known, rich, weights, plane, share, mask, lattice, path_out)
    else:
        path_out[:] = -1
    if known != n_labels or plane or share or mask.pairs.size:
        score(length, n_labels, rich, weights, 0, 0.0, lattice)
    log_z = expect(lattice, length, n_labels, rich, ascent.expected)
    _differentiate(gold, n_labels, rich, weights.edge.shape[3], ascent)
    return log_z - chain_score(lattice, gold, rich)


@inner_kernel
def _differentiate(gold, L, rich, capacity, ascent):
    """Turn marginals into the gradient."""
    slopes, pairs = ascent.node, ascent.edge
    expected, joint = ascent.expected.first.node, ascent.expected.first.edge
    for t in range(gold.size):
        for y in range(L):
            slopes[t, y] = -expected[t, y]
        slopes[t, gold[t]] += 1.0
        if rich:
            for y in range(L):
                pairs[t, y] = slopes[t, y]
    for t in range(1, gold.size if rich else min(gold.size, 2)):
        k = t if rich else 0
        for y_prev in range(L):
            begin = (1 + y_prev) * capacity
            for y in range(L):
                pairs[k, begin + y] = -joint[k, y_prev, y]
    for t in range(1, gold.size):
        pairs[t if rich else 0, (1 + gold[t - 1]) * capacity + gold[t]] += 1.0
    if ascent.triple.size and gold.size > 2:
        _differentiate_triples(gold, L, capacity, ascent.expected.triple, ascent.triple)


@inner_kernel
def _differentiate_triples(gold, L, capacity, expected, slopes_out):
    for y_prev in range(L):
        for y_prev2 in range(L):
            begin = (1 + y_prev) * capacity
            for y in range(L):
                slopes_out[y_prev2, begin + y] = -expected[y_prev, y_prev2, y]
    for t in range(2, gold.size):
        slopes_out[gold[t - 2], (1 + gold[t - 1]) * capacity + gold[t]] += 1.0


@inner_kernel
def _add_rows(rows, steps, slopes, end, count, weights):
    """Do w += step · slopes, up to `end`, for the rows active at one position.

    `count` is what plane 1 gets of each change, 0 for nothing; `weights` is float64[R, plane · ·].
    """
    # Loops begin at 0, or the compiler cannot tell that no index is negative, and takes twice as long.
    half = weights.shape[1] // 2
    for i in range(rows.size):
        row, step = rows[i], steps[i]
        if row >= 0:
            for s in range(end):
                weights[row, s] += step * slopes[s]
            if count:
                for s in range(end):
                    weights[row, half + s] += count * (step * slopes[s])


@inner_kernel
def climb(rows, first, length, n_labels, count, weights, ascent):
    """Do w += step · gradient for every active row of a sequence, each with its own step.

    Parameters
    ----------
    count : what plane 1 gets of each change, as `perceptron_pass` counts; 0 for nothing.
    weights : what goes up: Weights, or anything of their shape.
    ascent : as `predict_and_differentiate` left it, with the steps; it is used up.
    """
    node, edge = weights.node, weights.edge
    flat_node = node.reshape(node.shape[0], node[0].size)
    flat_edge = edge.reshape(edge.shape[0], edge[0].size)
    L, capacity, rich = n_labels, edge.shape[3], rows.edge_rows.size > 0
    node_begin = rows.node_starts[first]
    edge_begin = rows.edge_starts[first] if rich else 0
    if rows.node_values.size:
        for i in range(node_begin, rows.node_starts[first + length]):
            ascent.node_steps[i - node_begin] *= rows.node_values[i]
    for t in range(length):
        begin, end = rows.node_starts[first + t], rows.node_starts[first + t + 1]
        steps = ascent.node_steps[begin - node_begin : end - node_begin]
        _add_rows(rows.node_rows[begin:end], steps, ascent.node[t], L, count, flat_node)
        slopes = ascent.edge[t if rich else 0]
        if rich:
            begin, end = rows.edge_starts[first + t], rows.edge_starts[first + t + 1]
            middle = begin + rows.edge_singles
            steps = ascent.edge_steps[begin - edge_begin : end - edge_begin]
            reach = (1 + L) * capacity if t else capacity
            _add_rows(rows.edge_rows[begin:middle], steps, slopes, reach, count, flat_edge)
            slopes[:capacity] = 0.0
            if t and middle < end:
                steps = steps[rows.edge_singles :]
                _add_rows(rows.edge_rows[middle:end], steps, slopes, reach, count, flat_edge)
        if ascent.plain_steps[0] and t and (rich or t == 1):
            _add_rows(ascent.fixed[:1], ascent.plain_steps, slopes, (1 + L) * capacity, count, flat_edge)
    if weights.triple.size and length > 2:
        _climb_triples(L, capacity, count, weights.triple, ascent)


@inner_kernel
def _climb_triples(L, capacity, count, weights, ascent):
    flat = weights.reshape(weights.shape[0], weights[0].size)
    for y in range(L):
        row, step = ascent.fixed[y : y + 1], ascent.triple_steps[y : y + 1]
        _add_rows(row, step, ascent.triple[y], (1 + L) * capacity, count, flat)
