"""A linear-chain CRF trained by AdaGrad (Duchi, Hazan & Singer 2011, diagonal form), with lazy L2 updates.

Each weight moves by rate / √(floor + G) times its gradient, where G is the sum of its squared gradients, one
for each sequence, this one included.

The L2 term is integrated exactly between updates instead of in steps: after each sequence
w ← w · exp(−λ · rate / √(floor + G)) with λ = 1 / (N σ²), where N is the number of sequences seen so far.
What a row has to catch up with then depends only on the sum Λ of all λ, and no weight changes its sign.

Plane 0 of the weights is w, plane 1 is G; `meta[row, 0]` holds the Λ that the row is up to date with.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.arrays import Floats, Int32s
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.gradient import add_gradient, new_gradient, predict_and_differentiate


class StepSizes(NamedTuple):
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
def _shrink(row, weights, l2, sizes):
    """Apply the L2 term for a sum `l2` of λ; `weights` is float64[row, plane · ·]."""
    size = weights.shape[1] // 2
    for s in range(size):
        weights[row, s] *= np.exp(-l2 * sizes.rate / np.sqrt(sizes.floor + weights[row, size + s]))


@inner_kernel
def _catch_up(rows, begin, end, weights, meta, l2_sum, sizes):
    """Bring the active rows up to date with Λ = `l2_sum`."""
    flat = weights.reshape(weights.shape[0], weights[0].size)
    for i in range(begin, end):
        row = rows[i]
        if row >= 0 and meta[row, 0] != l2_sum:
            _shrink(row, flat, l2_sum - meta[row, 0], sizes)
            meta[row, 0] = l2_sum


@inner_kernel
def _adapt(rows, begin, end, weights, gradients, sizes):
    """Move the active rows along their gradients, and clear these: a row that is active twice moves once."""
    flat = weights.reshape(weights.shape[0], weights[0].size)
    flat_gradients = gradients.reshape(gradients.shape[0], gradients[0].size)
    size = gradients[0].size
    for i in range(begin, end):
        row = rows[i]
        if row >= 0:
            for s in range(size):
                g = flat_gradients[row, s]
                if g:
                    flat[row, size + s] += g * g
                    flat[row, s] += sizes.rate * g / np.sqrt(sizes.floor + flat[row, size + s])
                    flat_gradients[row, s] = 0.0


@kernel
def adagrad_pass(
    batch: Pass,
    seen: int,
    l2_sum: float,
    sizes: StepSizes,
    weights: Weights,
    metas: tuple[Floats, ...],
    gradients: Weights,
) -> float:
    """Predict, then learn, every sequence of a batch in order.

    The loss of a sequence is −log P(gold | x) before its update; its importance is a factor of the gradient.

    Parameters
    ----------
    seen : sequences learned before this batch; l2_sum : Λ before it.
    weights : of two planes, changed in place.
    metas : (float64[node rows, 1], float64[edge rows, 1], float64[triple rows, 1]).
    gradients : of one plane, all 0 before and after.

    Returns
    -------
    Λ after the batch.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    node, edge, triple = weights.node, weights.edge, weights.triple
    step = new_gradient(rows, max(n_labels, known_after[-1]), 1, weights)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        L, importance = known_after[i], batch.importance[i]
        node_span = rows.node_starts[first], rows.node_starts[last]
        edge_span = (rows.edge_starts[first], rows.edge_starts[last]) if rich else (0, 0)
        _catch_up(rows.node_rows, node_span[0], node_span[1], node, metas[0], l2_sum, sizes)
        _catch_up(rows.edge_rows, edge_span[0], edge_span[1], edge, metas[1], l2_sum, sizes)
        _catch_up(step.implicit, 0, 1, edge, metas[1], l2_sum, sizes)
        n_contexts = L if triple.size and last - first > 2 else 0
        _catch_up(step.implicit, 0, n_contexts, triple, metas[2], l2_sum, sizes)
        batch.loss_out[i] = predict_and_differentiate(batch, i, n_labels, 0, 0.0, weights, step)
        step.node_steps[:] = importance
        step.edge_steps[:] = importance
        step.triple_steps[:] = importance
        step.plain_steps[0] = importance if batch.plain_edges else 0.0
        add_gradient(rows, first, last - first, L, 0.0, gradients, step)
        _adapt(rows.node_rows, node_span[0], node_span[1], node, gradients.node, sizes)
        _adapt(rows.edge_rows, edge_span[0], edge_span[1], edge, gradients.edge, sizes)
        _adapt(step.implicit, 0, 1, edge, gradients.edge, sizes)
        _adapt(step.implicit, 0, n_contexts, triple, gradients.triple, sizes)
        n_labels = L
        seen += 1
        l2_sum += sizes.inverse_variance / seen
    return l2_sum


@kernel
def caught_up(
    rows: Int32s, weights: Floats, meta: Floats, l2_sum: float, sizes: StepSizes, weights_out: Floats
) -> None:
    """Write the current values of some rows, int32[R]; `weights` do not change.

    `weights_out` is shaped like R rows of `weights`.
    """
    flat_out = weights_out.reshape(rows.size, weights[0].size)
    flat = weights.reshape(weights.shape[0], weights[0].size)
    for i in range(rows.size):
        flat_out[i] = flat[rows[i]]
        if meta[rows[i], 0] != l2_sum:
            _shrink(i, flat_out, l2_sum - meta[rows[i], 0], sizes)
