"""The structured weighted violations perceptron (Dror & Reichart 2016, algorithm 2) over a batch.

Where the prediction z is not the gold labelling y, w += Σ_J γ_J (Φ(x, y) − Φ(x, m^J)): JJ is of
`swvp_substructures`, γ of `swvp_gamma`. All margins come from the one
lattice that z came from, each in O(|J|), and what all J ask of a position is added up before any weight is
touched, so that an update costs about what the perceptron's does, however many J there are.

Weights, totals and averages are those of `streamlearn.kernels.updates.perceptron`.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.chain.augmented_decoding import Search, find_rival
from streamlearn.kernels.chain.lattice import Weights, new_lattice
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.averaging import Averaging, due, rescale, share
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.perceptron import add_step, add_triples
from streamlearn.kernels.updates.swvp_gamma import Gamma, set_gamma
from streamlearn.kernels.updates.swvp_substructures import find_substructures, new_substructures, whole


class Strategy(NamedTuple):
    """What an update of SWVP is made of.

    Attributes
    ----------
    substructures : a constant of `swvp_substructures`.
    max_errors : wrong positions up to which ALL enumerates every subset.
    gamma : how the mixed assignments are weighted.
    """

    substructures: int
    max_errors: int
    gamma: Gamma


# What is counted over all updates: J that are violations, and that are not; updates that backed off; and the
# sum of γ that violations had, of 1 for each update.
VIOLATIONS, NON_VIOLATIONS, BACKOFFS, VIOLATING_GAMMA = 0, 1, 2, 3
TALLIES = 4

# Σ γ_J over the J that hold t (alone), and that hold of the pair (t − 1, t) both, the left or the right one
# only; float64[T + 1] each, of which position T counts for nothing. Of triples that would be seven sums: they
# are updated J by J, with gamma float64[·].
Mixture = namedtuple("Mixture", "alone both left right gamma")


@kernel
def new_mixture(longest, most):
    """Allocate for a sequence of `longest` positions and the `most` substructures."""
    sums = np.zeros((4, longest + 1))
    return Mixture(sums[0], sums[1], sums[2], sums[3], np.zeros(most))


@inner_kernel
def _margin(positions, gold, path, rich, lattice):
    """Give w · (Φ(x, y) − Φ(x, m^J)) for the wrong positions of J, minus the cost of each."""
    emit, trans = lattice.emit, lattice.trans
    margin = 0.0
    for i in range(positions.size):
        t = positions[i]
        y, z = gold[t], path[t]
        margin += emit[t, y] - emit[t, z]
        if t > 0:
            held = i > 0 and positions[i - 1] == t - 1
            step = trans[t if rich else 0]
            margin += step[gold[t - 1], y] - step[path[t - 1] if held else gold[t - 1], z]
        if t + 1 < gold.size and not (i + 1 < positions.size and positions[i + 1] == t + 1):
            step = trans[t + 1 if rich else 0]
            margin += step[y, gold[t + 1]] - step[z, gold[t + 1]]
    return margin


@kernel
def _assign(positions, gold, path, mixed_out):
    """Write the mixed assignment."""
    mixed_out[:] = gold
    for i in range(positions.size):
        mixed_out[positions[i]] = path[positions[i]]


@inner_kernel
def _margin_of_triples(gold, mixed, triple):
    """Give what triples of labels add to a margin."""
    margin = 0.0
    for t in range(2, gold.size):
        if gold[t] != mixed[t] or gold[t - 1] != mixed[t - 1] or gold[t - 2] != mixed[t - 2]:
            margin += triple[gold[t - 1], gold[t - 2], gold[t]] - triple[mixed[t - 1], mixed[t - 2], mixed[t]]
    return margin


@kernel
def _mix(sets, gamma, length, mixture):
    """Sum γ up by position."""
    for sums in (mixture.alone, mixture.both, mixture.left, mixture.right):
        for t in range(length):
            sums[t] = 0.0
    mixture.gamma[:] = 0.0
    for j in range(gamma.size):
        mixture.gamma[j] = gamma[j]
        if gamma[j] > 0.0:
            positions = sets.positions[sets.starts[j] : sets.starts[j + 1]]
            for i in range(positions.size):
                t = positions[i]
                mixture.alone[t] += gamma[j]
                if i > 0 and positions[i - 1] == t - 1:
                    mixture.both[t] += gamma[j]
                else:
                    mixture.right[t] += gamma[j]
                if not (i + 1 < positions.size and positions[i + 1] == t + 1):
                    mixture.left[t + 1] += gamma[j]


@kernel
def _decide(strategy, wrong, gold, path, marks, rich, lattice, sets, mixture, tallies_out):
    """Choose JJ and γ for a wrong prediction and leave their sums in `mixture`, counted in `tallies_out`."""
    order = 2 if lattice.triple.size else 1
    n = find_substructures(strategy.substructures, wrong, gold, path, marks, strategy.max_errors, order, sets)
    margins, gamma = np.empty(n), np.empty(n)
    mixed = np.empty_like(gold)
    for j in range(n):
        positions = sets.positions[sets.starts[j] : sets.starts[j + 1]]
        margins[j] = _margin(positions, gold, path, rich, lattice)
        if order == 2:
            _assign(positions, gold, path, mixed)
            margins[j] += _margin_of_triples(gold, mixed, lattice.triple)
        tallies_out[VIOLATIONS if margins[j] <= 0.0 else NON_VIOLATIONS] += 1.0
    if n and set_gamma(margins, strategy.gamma, gamma):
        for j in range(n):
            if margins[j] <= 0.0:
                tallies_out[VIOLATING_GAMMA] += gamma[j]
    else:
        # Property 3 of the paper, dynamic updates: the prediction as a whole is always a violation.
        gamma = np.empty(whole(wrong, sets))
        gamma[0] = 1.0
        tallies_out[BACKOFFS] += 1.0
        tallies_out[VIOLATING_GAMMA] += 1.0
    _mix(sets, gamma, gold.size, mixture)


@inner_kernel
def _add_pairs(change, row, before, now, both, left, right, owed, edge):
    """Do what all J ask of the pair of labels at one position, for one row; add its change of ‖w‖².

    `before` and `now` are (gold, predicted) labels of the position before and of this one.
    """
    # The sum goes on here, in the perceptron's order, so that WHOLE gives the perceptron's bits.
    y_prev, z_prev = 1 + before[0], 1 + before[1]
    y, z = now
    change += add_step(edge, row, y_prev, y, both + left + right, owed)
    if both:
        change += add_step(edge, row, z_prev, z, -both, owed)
    if left:
        change += add_step(edge, row, z_prev, y, -left, owed)
    if right:
        change += add_step(edge, row, y_prev, z, -right, owed)
    return change


@kernel
def add_mixture(rows, first, gold, path, sets, mixture, rate, owed, plain_edges, weights):
    """Do w += rate · Σ_J γ_J (Φ(x, gold) − Φ(x, m^J)) for the sequence that begins at `first`.

    Plane 1 gets `owed` times as much.

    Returns
    -------
    The change of ‖w‖².
    """
    node, edge, triple = weights
    weighted = rows.node_values.size > 0
    rich = rows.edge_rows.size > 0
    change = 0.0
    for t in range(gold.size):
        at = first + t
        y, z = gold[t], path[t]
        alone = rate * mixture.alone[t]
        both, left, right = rate * mixture.both[t], rate * mixture.left[t], rate * mixture.right[t]
        pair = t > 0 and both + left + right > 0.0
        before, now = (gold[t - 1], path[t - 1]), (y, z)
        if alone:
            for i in range(rows.node_starts[at], rows.node_starts[at + 1]):
                row = rows.node_rows[i]
                if row >= 0:
                    step = alone * rows.node_values[i] if weighted else alone
                    change += add_step(node, row, 0, y, step, owed)
                    change += add_step(node, row, 0, z, -step, owed)
        if pair and plain_edges:
            change = _add_pairs(change, 0, before, now, both, left, right, owed, edge)
        if rich and (alone or pair):
            begin = rows.edge_starts[at]
            for i in range(begin, rows.edge_starts[at + 1]):
                row = rows.edge_rows[i]
                if row >= 0:
                    if alone and i < begin + rows.edge_singles:
                        change += add_step(edge, row, 0, y, alone, owed)
                        change += add_step(edge, row, 0, z, -alone, owed)
                    if pair:
                        change = _add_pairs(change, row, before, now, both, left, right, owed, edge)
    if triple.size:
        mixed = np.empty_like(gold)
        for j in range(mixture.gamma.size):
            if mixture.gamma[j] > 0.0:
                _assign(sets.positions[sets.starts[j] : sets.starts[j + 1]], gold, path, mixed)
                change += add_triples(gold, mixed, rate * mixture.gamma[j], owed, triple)
    return change


@kernel
def swvp_pass(
    batch: Pass,
    count: int,
    norm_squared: float,
    averaging: Averaging,
    search: Search,
    strategy: Strategy,
    weights: Weights,
    tallies_out: NDArray[np.float64],
) -> float:
    """Predict, then learn, every sequence of a batch in order.

    Parameters
    ----------
    batch, count, norm_squared, averaging, search, weights : as for `perceptron_pass`, and the losses too.
    strategy : what updates are made of.
    tallies_out : float64[TALLIES], added to.

    Returns
    -------
    ‖w‖² of the last weights.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    lattice = new_lattice(rows, max(n_labels, known_after[-1]), 2 if averaging.kind else 1, weights)
    longest = lattice.emit.shape[0]
    rich = rows.edge_rows.size > 0
    path, wrong = np.empty(longest, np.int32), np.empty(longest, np.int64)
    sets = new_substructures(longest, strategy.max_errors)
    mixture = new_mixture(longest, sets.starts.size - 1)
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gold, rival = batch.labels[first:last], path[: last - first]
        taken = share(averaging, count)
        _, size = find_rival(batch, i, n_labels, taken, search, weights, lattice, rival)
        gold, rival, n_wrong = gold[:size], rival[:size], 0
        for t in range(size):
            if rival[t] != gold[t]:
                wrong[n_wrong] = t
                n_wrong += 1
        if n_wrong:
            _decide(
                strategy, wrong[:n_wrong], gold, rival, batch.marks, rich, lattice, sets, mixture, tallies_out
            )
            # Added sequence by sequence, so that the cut into batches changes no bit of it.
            owed = due(averaging, count)
            norm_squared += add_mixture(
                rows, first, gold, rival, sets, mixture, batch.importance[i], owed, batch.plain_edges, weights
            )
        batch.loss_out[i] = n_wrong
        n_labels = known_after[i]
        count += 1
        rescale(averaging, count, rows.used, weights)
    return norm_squared
