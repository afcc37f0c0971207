"""A gradient step on log P(gold | x): what all learners of CRFs have in common.

The gradient is the observed minus the expected feature counts. It is laid out as the weights are,
`[slot, label]` contiguously for each position, so that a row is updated in one sweep over all its slots.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.chain.lattice import Weights, chain_score, gather, new_lattice, score
from streamlearn.kernels.chain.marginals_second_order import expect, new_expected
from streamlearn.kernels.chain.mask import best_labelling
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.sizes import most_active
from streamlearn.kernels.updates.batch_pass import Pass

# node float64[T, label], edge float64[T or 1, slot · label]: the gradient at each position, of pairs summed
# into index 0 where no edge feature depends on the position; triple float64[row, slot · label]: of triples,
# summed; node_steps, edge_steps, triple_steps float64[·], plain_steps float64[1]: step sizes of each active
# row of the sequence, and of the plain transitions, which are not learned if it is 0; implicit int32[·]:
# 0, 1, …, the rows that are active without a feature: of edge the first, of triple all.
Gradient = namedtuple(
    "Gradient", "lattice expected node edge triple node_steps edge_steps plain_steps triple_steps implicit"
)


@kernel
def new_gradient(rows, n_labels, planes, weights):
    """Allocate for the longest sequence of `rows`; `planes` of the weights are read."""
    lattice = new_lattice(rows, n_labels, planes, weights)
    contexts = weights.triple.shape[0]
    return Gradient(
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
def predict_and_differentiate(
    batch: Pass,
    i: int,
    known: int,
    plane: int,
    share: float,
    weights: Weights,
    gradient: Gradient,
) -> float:
    """Predict a sequence, then compute the gradient at the last weights.

    Parameters
    ----------
    batch : whose `predicted_out` is written; i : the sequence.
    known : labels that may be predicted.
    plane, share : which weights predict, as for `streamlearn.kernels.chain.lattice.score`.

    Returns
    -------
    -log P(gold | x).
    """
    rows, mask, n_labels = batch.rows, batch.mask, batch.labels_known[i]
    first, last = rows.starts[i], rows.starts[i + 1]
    gold, path_out = batch.labels[first:last], batch.predicted_out[first:last]
    lattice, length, rich = gradient.lattice, gold.size, rows.edge_rows.size > 0
    gather(rows, first, last, weights, lattice)
    if known:
        best_labelling(known, rich, weights, plane, share, mask, lattice, path_out)
    else:
        path_out[:] = -1
    if known != n_labels or plane or share or mask.pairs.size:
        score(length, n_labels, rich, weights, 0, 0.0, lattice)
    log_z: float = expect(lattice, length, n_labels, rich, gradient.expected)
    _differentiate(gold, n_labels, rich, weights.edge.shape[3], gradient)
    gold_score: float = chain_score(lattice, gold, rich)
    return log_z - gold_score


@inner_kernel
def _differentiate(gold, L, rich, capacity, gradient):
    """Turn marginals into the gradient."""
    singles, pairs = gradient.node, gradient.edge
    expected, joint = gradient.expected.first.node, gradient.expected.first.edge
    for t in range(gold.size):
        for y in range(L):
            singles[t, y] = -expected[t, y]
        singles[t, gold[t]] += 1.0
        if rich:
            for y in range(L):
                pairs[t, y] = singles[t, y]
    for t in range(1, gold.size if rich else min(gold.size, 2)):
        k = t if rich else 0
        for y_prev in range(L):
            begin = (1 + y_prev) * capacity
            for y in range(L):
                pairs[k, begin + y] = -joint[k, y_prev, y]
    for t in range(1, gold.size):
        pairs[t if rich else 0, (1 + gold[t - 1]) * capacity + gold[t]] += 1.0
    if gradient.triple.size and gold.size > 2:
        _differentiate_triples(gold, L, capacity, gradient.expected.triple, gradient.triple)


@inner_kernel
def _differentiate_triples(gold, L, capacity, expected, gradient_out):
    for y_prev in range(L):
        for y_prev2 in range(L):
            begin = (1 + y_prev) * capacity
            for y in range(L):
                gradient_out[y_prev2, begin + y] = -expected[y_prev, y_prev2, y]
    for t in range(2, gold.size):
        gradient_out[gold[t - 2], (1 + gold[t - 1]) * capacity + gold[t]] += 1.0


@inner_kernel
def _add_rows(rows, steps, gradient, end, factor, weights):
    """Do w += step · gradient, up to `end`, for the rows active at one position.

    Plane 1 receives `factor` times each change; `weights` is float64[R, plane · ·].
    """
    # Loops begin at 0: otherwise the compiler does not know that no index is negative, and is half as fast.
    half = weights.shape[1] // 2
    for i in range(rows.size):
        row, step = rows[i], steps[i]
        if row >= 0:
            for s in range(end):
                weights[row, s] += step * gradient[s]
            if factor:
                for s in range(end):
                    weights[row, half + s] += factor * (step * gradient[s])


@inner_kernel
def add_gradient(rows, first, length, n_labels, factor, weights, gradient):
    """Do w += step · gradient for every active row of a sequence, each with its own step size.

    Parameters
    ----------
    factor : what plane 1 receives of each change, as `averaging.average_factor`; 0 for nothing.
    weights : Weights that are changed, or anything of their shape.
    gradient : as left by `predict_and_differentiate`, with the step sizes set; it is overwritten.
    """
    node, edge = weights.node, weights.edge
    flat_node = node.reshape(node.shape[0], node[0].size)
    flat_edge = edge.reshape(edge.shape[0], edge[0].size)
    L, capacity, rich = n_labels, edge.shape[3], rows.edge_rows.size > 0
    node_begin = rows.node_starts[first]
    edge_begin = rows.edge_starts[first] if rich else 0
    if rows.node_values.size:
        for i in range(node_begin, rows.node_starts[first + length]):
            gradient.node_steps[i - node_begin] *= rows.node_values[i]
    for t in range(length):
        begin, end = rows.node_starts[first + t], rows.node_starts[first + t + 1]
        steps = gradient.node_steps[begin - node_begin : end - node_begin]
        _add_rows(rows.node_rows[begin:end], steps, gradient.node[t], L, factor, flat_node)
        pairs = gradient.edge[t if rich else 0]
        if rich:
            begin, end = rows.edge_starts[first + t], rows.edge_starts[first + t + 1]
            middle = begin + rows.edge_singles
            steps = gradient.edge_steps[begin - edge_begin : end - edge_begin]
            reach = (1 + L) * capacity if t else capacity
            _add_rows(rows.edge_rows[begin:middle], steps, pairs, reach, factor, flat_edge)
            pairs[:capacity] = 0.0
            if t and middle < end:
                steps = steps[rows.edge_singles :]
                _add_rows(rows.edge_rows[middle:end], steps, pairs, reach, factor, flat_edge)
        if gradient.plain_steps[0] and t and (rich or t == 1):
            row, step = gradient.implicit[:1], gradient.plain_steps
            _add_rows(row, step, pairs, (1 + L) * capacity, factor, flat_edge)
    if weights.triple.size and length > 2:
        _add_gradient_of_triples(L, capacity, factor, weights.triple, gradient)


@inner_kernel
def _add_gradient_of_triples(L, capacity, factor, weights, gradient):
    flat = weights.reshape(weights.shape[0], weights[0].size)
    for y in range(L):
        row, step = gradient.implicit[y : y + 1], gradient.triple_steps[y : y + 1]
        _add_rows(row, step, gradient.triple[y], (1 + L) * capacity, factor, flat)
