"""A linear-chain CRF trained by AdaGrad (Duchi, Hazan & Singer 2011, diagonal form), lazily.

Each weight goes by rate / √(floor + G) times its gradient, where G is the sum of its squared gradients, one
for each sequence, this one included.

The L2 term is followed exactly between updates rather than by steps of its own: after each sequence
w ← w · exp(−λ · rate / √(floor + G)) with λ = 1 / (N σ²), where N is the number of sequences seen so far.
What an idle row owes then depends on the sum Λ of all λ alone, and no weight can be pushed beyond 0.

Plane 0 of the weights is w, plane 1 is G; `meta[row, 0]` holds the Λ up to which the row is settled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.gradient import climb, new_ascent, predict_and_differentiate


class Steps(NamedTuple):
    """How large the steps of AdaGrad are.

    Attributes
    ----------
    rate : of a weight whose squared gradients sum to 1.
    floor : initial value of every sum of squared gradients.
    inverse_variance : 1 / σ² of the Gaussian prior; 0 without L2.
    """

    rate: float
    floor: float
    inverse_variance: float


@inner_kernel
def _shrink(row, weights, owed, steps):
    """Follow the L2 term; `weights` is float64[row, plane · ·]."""
    size = weights.shape[1] // 2
    for s in range(size):
        weights[row, s] *= np.exp(-owed * steps.rate / np.sqrt(steps.floor + weights[row, size + s]))


@inner_kernel
def _settle_all(rows, begin, end, weights, meta, due, steps):
    flat = weights.reshape(weights.shape[0], weights[0].size)
    for i in range(begin, end):
        row = rows[i]
        if row >= 0 and meta[row, 0] != due:
            _shrink(row, flat, due - meta[row, 0], steps)
            meta[row, 0] = due


@inner_kernel
def _adapt(rows, begin, end, weights, slopes, steps):
    """Move the active rows along `slopes`, which are 0 afterwards: a row that comes twice moves once."""
    flat = weights.reshape(weights.shape[0], weights[0].size)
    flat_slopes = slopes.reshape(slopes.shape[0], slopes[0].size)
    size = slopes[0].size
    for i in range(begin, end):
        row = rows[i]
        if row >= 0:
            for s in range(size):
                g = flat_slopes[row, s]
                if g:
                    flat[row, size + s] += g * g
                    flat[row, s] += steps.rate * g / np.sqrt(steps.floor + flat[row, size + s])
                    flat_slopes[row, s] = 0.0


@kernel
def adagrad_pass(
    batch: Pass,
    seen: int,
    due: float,
    steps: Steps,
    weights: Weights,
    metas: tuple[NDArray[np.float64], ...],
    slopes: Weights,
) -> float:
    """Predict, then learn, every sequence of a batch in order.

    The loss of a sequence is −log P(gold | x) before its update; its importance is a factor of the gradient.

    Parameters
    ----------
    seen : sequences learned before this batch; due : the sum Λ by then.
    weights : of two planes, changed in place.
    metas : (float64[node rows, 1], float64[edge rows, 1], float64[triple rows, 1]).
    slopes : of one plane, all 0 before and after.

    Returns
    -------
    Λ after the batch.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    node, edge, triple = weights
    ascent = new_ascent(rows, max(n_labels, known_after[-1]), 1, weights)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        L, importance = known_after[i], batch.importance[i]
        node_span = rows.node_starts[first], rows.node_starts[last]
        edge_span = (rows.edge_starts[first], rows.edge_starts[last]) if rich else (0, 0)
        _settle_all(rows.node_rows, node_span[0], node_span[1], node, metas[0], due, steps)
        _settle_all(rows.edge_rows, edge_span[0], edge_span[1], edge, metas[1], due, steps)
        _settle_all(ascent.fixed, 0, 1, edge, metas[1], due, steps)
        n_contexts = L if triple.size and last - first > 2 else 0
        _settle_all(ascent.fixed, 0, n_contexts, triple, metas[2], due, steps)
        batch.loss_out[i] = predict_and_differentiate(batch, i, n_labels, 0, 0.0, weights, ascent)
        ascent.node_steps[:] = importance
        ascent.edge_steps[:] = importance
        ascent.triple_steps[:] = importance
        ascent.plain_steps[0] = importance if batch.plain_edges else 0.0
        climb(rows, first, last - first, L, 0.0, slopes, ascent)
        _adapt(rows.node_rows, node_span[0], node_span[1], node, slopes.node, steps)
        _adapt(rows.edge_rows, edge_span[0], edge_span[1], edge, slopes.edge, steps)
        _adapt(ascent.fixed, 0, 1, edge, slopes.edge, steps)
        _adapt(ascent.fixed, 0, n_contexts, triple, slopes.triple, steps)
        n_labels = L
        seen += 1
        due += steps.inverse_variance / seen
    return due


@kernel
def settled(rows, weights, meta, due, steps, weights_out):
    """Write some rows as they are now, changing nothing; `rows` is int32[R], the others as in `adf`."""
    flat_out = weights_out.reshape(rows.size, weights[0].size)
    flat = weights.reshape(weights.shape[0], weights[0].size)
    for i in range(rows.size):
        flat_out[i] = flat[rows[i]]
        if meta[rows[i], 0] != due:
            _shrink(i, flat_out, due - meta[rows[i], 0], steps)
