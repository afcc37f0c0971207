"""Large-margin learners: structured passive-aggressive (PA), and structured AROW.

PA is by Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, AROW by Crammer, Kulesza & Dredze 2009. Both
require of every labelling z that w · Δφ ≥ ρ(y, z), where Δφ = Φ(x, y) − Φ(x, z) and ρ is the number of wrong
labels. They choose a z, whose loss is ℓ = ρ(y, z) − w · Δφ, and update w so that this z meets its margin, as
far as C or r allow:

    w += τ Σ Δφ,    τ = min(C, ℓ / (Δφᵀ Σ Δφ + r))

- PA-I (figure 1 and section 8 there) has Σ = 1 and r = 0. Its margin is √ρ; we use ρ, a sum over positions,
  so that Viterbi finds the z of the largest loss. The prediction-based variant has z = argmax w · Φ(x, z)
  instead, and therefore no loss where that is y, by however small a margin.
- AROW (figure 1 there) has C = ∞ and a diagonal Σ, the variances of the weights, which shrink with every
  update: Σ⁻¹ += Δφ² / r, the diagonal of the update there.

An importance of h corresponds to h copies of the sequence in one update: C becomes h C, and r becomes r / h.

Planes 0 and 1 of the weights are as in `kernels.updates.perceptron`; plane 2, of AROW only, is Σ⁻¹ − 1.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.chain.lattice import Weights, new_lattice
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.augmented_prediction import Search, hamming_distance, predict_augmented
from streamlearn.kernels.updates.averaging import Averaging, average_factor, average_share, rescale
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.difference import difference, new_difference


class Margin(NamedTuple):
    """How far an update moves, and away from which labelling.

    Attributes
    ----------
    aggressiveness : C.
    regularization : r.
    is_max_loss : whether z is the labelling of the largest loss; else it is the predicted one.
    """

    aggressiveness: float
    regularization: float
    is_max_loss: bool


# ρ counts 1 for each wrong label. Another unit, with C in that unit, would only scale all weights.
_COST = 1.0


@kernel
def _flat(weights):
    return weights.reshape(weights.shape[0], weights.shape[1], weights[0, 0].size)


@inner_kernel
def _variance(weights, row, column):
    return 1.0 / (1.0 + weights[row, 2, column]) if weights.shape[1] > 2 else 1.0


@inner_kernel
def _margin_variance(vector, weights):
    """Return Δφᵀ Σ Δφ, of one array of weights."""
    total = 0.0
    for i in range(vector.value.size):
        total += vector.value[i] * vector.value[i] * _variance(weights, vector.row[i], vector.column[i])
    return total


@inner_kernel
def _update(vector, step, factor, precision, weights):
    """Do w += step · Σ Δφ and Σ⁻¹ += precision · Δφ² in one array of weights; return the change of ‖w‖²."""
    change = 0.0
    for i in range(vector.value.size):
        row, column, value = vector.row[i], vector.column[i], vector.value[i]
        delta = step * _variance(weights, row, column) * value
        change += delta * (2.0 * weights[row, 0, column] + delta)
        weights[row, 0, column] += delta
        weights[row, 1, column] += factor * delta
        if weights.shape[1] > 2:
            weights[row, 2, column] += precision * value * value
    return change


@kernel
def margin_pass(
    batch: Pass,
    count: int,
    norm_squared: float,
    averaging: Averaging,
    margin: Margin,
    weights: Weights,
    scratch: Weights,
) -> float:
    """Predict, then learn, every sequence of a batch in order.

    The loss of a sequence is ℓ before its update; 0 for no update. Its importance is h.

    Parameters
    ----------
    batch, count, norm_squared, averaging : as for `perceptron_pass`.
    weights : of 2 or 3 planes, changed in place.
    scratch : of one plane, all 0 before and after.

    Returns
    -------
    ‖w‖² of the last weights.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    lattice = new_lattice(rows, max(n_labels, known_after[-1]), 2 if averaging.kind else 1, weights)
    search = Search(_COST if margin.is_max_loss else 0.0, 0, False)
    vectors, longest_path = new_difference(rows), np.empty(lattice.emit.shape[0], np.int32)
    node, edge, triple = _flat(weights.node), _flat(weights.edge), _flat(weights.triple)
    for i in range(rows.starts.size - 1):
        first, last, h = rows.starts[i], rows.starts[i + 1], batch.importance[i]
        gold, path = batch.labels[first:last], longest_path[: last - first]
        share = average_share(averaging, count)
        loss, _ = predict_augmented(batch, i, n_labels, share, search, weights, lattice, path)
        if not margin.is_max_loss:
            loss += _COST * hamming_distance(gold, path)
        batch.loss_out[i] = loss = max(loss, 0.0)
        if loss > 0.0:
            nodes, edges, triples = difference(rows, first, gold, path, batch.plain_edges, scratch, vectors)
            variance = _margin_variance(nodes, node) + _margin_variance(edges, edge)
            variance += _margin_variance(triples, triple)
            step = min(h * margin.aggressiveness, loss / (variance + margin.regularization / h))
            factor, precision = average_factor(averaging, count), h / margin.regularization
            # Added sequence by sequence, so that the cut into batches changes no bit of it.
            change = _update(nodes, step, factor, precision, node)
            change += _update(edges, step, factor, precision, edge)
            norm_squared += change + _update(triples, step, factor, precision, triple)
        n_labels = known_after[i]
        count += 1
        rescale(averaging, count, rows.used, weights)
    return norm_squared
