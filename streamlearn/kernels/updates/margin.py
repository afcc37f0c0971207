"""Learners of a margin: structured passive-aggressive, and structured AROW.

The former are of Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, the latter is of Crammer, Kulesza &
Dredze 2009. Both ask of every labelling z that w · Δφ ≥ ρ(y, z), where Δφ = Φ(x, y) − Φ(x, z) and ρ is the
number of wrong labels, look at the z that falls shortest of it, by the loss ℓ = ρ(y, z) − w · Δφ, and move w
just so far that this z does not, as far as they dare:

    w += τ Σ Δφ,    τ = min(C, ℓ / (Δφᵀ Σ Δφ + r))

- PA-I (figure 1 and section 8 there) has Σ = 1 and r = 0. There the margin is √ρ; ρ itself is a sum over
  positions, so that Viterbi finds the z of the largest loss. The variant that is based on predictions has
  z = argmax w · Φ(x, z) instead, and so suffers no loss where that is y, however narrowly.
- AROW (figure 1 there) has C = ∞ and a diagonal Σ, the variances of the weights, which shrink with every
  update, Σ⁻¹ += Δφ² / r, the diagonal of the update there.

Importance h is as good as h copies of the sequence, looked at at once: C becomes h C, and r becomes r / h.

Planes 0 and 1 of the weights are as in `kernels.updates.perceptron`; plane 2, of AROW only, is Σ⁻¹ − 1.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.chain.augmented_decoding import Search, find_rival
from streamlearn.kernels.chain.lattice import Weights, new_lattice
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.averaging import Averaging, due, rescale, share
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


# ρ is 1 for each wrong label. Another unit would scale all weights, with C in that unit, and nothing else.
_COST = 1.0


@kernel
def _flat(weights):
    return weights.reshape(weights.shape[0], weights.shape[1], weights[0, 0].size)


@inner_kernel
def _variance(weights, row, at):
    return 1.0 / (1.0 + weights[row, 2, at]) if weights.shape[1] > 2 else 1.0


@inner_kernel
def _spread(vector, weights):
    """Give Δφᵀ Σ Δφ, of one array of weights."""
    total = 0.0
    for i in range(vector.by.size):
        total += vector.by[i] * vector.by[i] * _variance(weights, vector.row[i], vector.at[i])
    return total


@inner_kernel
def _move(vector, step, owed, confidence, weights):
    """Do w += step · Σ Δφ, then Σ⁻¹ += confidence · Δφ², of one array of weights; give the change of ‖w‖²."""
    change = 0.0
    for i in range(vector.by.size):
        row, at, by = vector.row[i], vector.at[i], vector.by[i]
        moved = step * _variance(weights, row, at) * by
        change += moved * (2.0 * weights[row, 0, at] + moved)
        weights[row, 0, at] += moved
        weights[row, 1, at] += owed * moved
        if weights.shape[1] > 2:
            weights[row, 2, at] += confidence * by * by
    return change


@inner_kernel
def _cost(gold, path):
    """Give ρ."""
    wrong = 0
    for t in range(gold.size):
        wrong += gold[t] != path[t]
    return _COST * wrong


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
    room, rival = new_difference(rows), np.empty(lattice.emit.shape[0], np.int32)
    node, edge, triple = _flat(weights.node), _flat(weights.edge), _flat(weights.triple)
    for i in range(rows.starts.size - 1):
        first, last, h = rows.starts[i], rows.starts[i + 1], batch.importance[i]
        gold, z = batch.labels[first:last], rival[: last - first]
        loss, _ = find_rival(batch, i, n_labels, share(averaging, count), search, weights, lattice, z)
        if not margin.is_max_loss:
            loss += _cost(gold, z)
        batch.loss_out[i] = loss = max(loss, 0.0)
        if loss > 0.0:
            by_node, by_edge, by_triple = difference(rows, first, gold, z, batch.plain_edges, scratch, room)
            spread = _spread(by_node, node) + _spread(by_edge, edge) + _spread(by_triple, triple)
            step = min(h * margin.aggressiveness, loss / (spread + margin.regularization / h))
            confidence = h / margin.regularization
            owed = due(averaging, count)
            # Added sequence by sequence, so that the cut into batches changes no bit of it.
            change = _move(by_node, step, owed, confidence, node)
            change += _move(by_edge, step, owed, confidence, edge)
            norm_squared += change + _move(by_triple, step, owed, confidence, triple)
        n_labels = known_after[i]
        count += 1
        rescale(averaging, count, rows.used, weights)
    return norm_squared
