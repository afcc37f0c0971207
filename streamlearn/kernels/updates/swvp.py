"""The structured weighted violations perceptron (Dror & Reichart 2016, algorithm 2) over a batch.

Where the prediction z is not the gold labelling y, w += Σ_J γ_J (Φ(x, y) − Φ(x, m^J)). The substructures J
come from `swvp_substructures`, γ from `swvp_gamma`. All margins are computed from the one lattice that z was
decoded from, each in O(|J|), and the γ_J are summed by position before any weight is changed, so that an
update costs about as much as the perceptron's, whatever the number of substructures.

Weights and averages are those of `streamlearn.kernels.updates.perceptron`.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from streamlearn.kernels.arrays import Floats
from streamlearn.kernels.chain.lattice import Weights, new_lattice
from streamlearn.kernels.chain.transitions import transitions_at
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.augmented_prediction import Search, predict_augmented
from streamlearn.kernels.updates.averaging import Averaging, average_factor, average_share, rescale
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.swvp_gamma import Gamma, set_gamma
from streamlearn.kernels.updates.swvp_substructures import find_substructures, new_substructures, whole
from streamlearn.kernels.updates.weight_changes import add_position, add_triples


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
# sum of the γ of violations, where all γ of an update sum to 1.
VIOLATIONS, NON_VIOLATIONS, BACKOFFS, VIOLATING_GAMMA = 0, 1, 2, 3
TALLIES = 4

# Sums of γ_J by position, float64[T + 1] each: over the J that contain t (alone), and over those that contain
# of the pair (t − 1, t) both, only the left or only the right position, which are 0 at position 0. Position T
# is not read. gamma float64[·]: γ_J by substructure. Triples of labels would need seven sums: they are
# updated substructure by substructure.
GammaSums = namedtuple("GammaSums", "alone both left right gamma")


@kernel
def new_gamma_sums(longest, most):
    """Allocate for a sequence of `longest` positions and up to `most` substructures."""
    sums = np.zeros((4, longest + 1))
    return GammaSums(sums[0], sums[1], sums[2], sums[3], np.zeros(most))


@inner_kernel
def _margin(positions, gold, path, rich, lattice):
    """Return w · (Φ(x, y) − Φ(x, m^J)) for the wrong positions of J, minus the cost of each."""
    emit, trans = lattice.emit, lattice.trans
    margin = 0.0
    for i in range(positions.size):
        t = positions[i]
        y, z = gold[t], path[t]
        margin += emit[t, y] - emit[t, z]
        if t > 0:
            held = i > 0 and positions[i - 1] == t - 1
            step = trans[transitions_at(lattice, t) if rich else 0]
            margin += step[gold[t - 1], y] - step[path[t - 1] if held else gold[t - 1], z]
        if t + 1 < gold.size and not (i + 1 < positions.size and positions[i + 1] == t + 1):
            step = trans[transitions_at(lattice, t + 1) if rich else 0]
            margin += step[y, gold[t + 1]] - step[z, gold[t + 1]]
    return margin


@kernel
def _write_mixed_assignment(positions, gold, path, mixed_out):
    """Write m^J: the prediction at the positions of J, and gold elsewhere."""
    mixed_out[:] = gold
    for i in range(positions.size):
        mixed_out[positions[i]] = path[positions[i]]


@inner_kernel
def _margin_of_triples(gold, mixed, triple):
    """Return what triples of labels add to a margin."""
    margin = 0.0
    for t in range(2, gold.size):
        if gold[t] != mixed[t] or gold[t - 1] != mixed[t - 1] or gold[t - 2] != mixed[t - 2]:
            margin += triple[gold[t - 1], gold[t - 2], gold[t]] - triple[mixed[t - 1], mixed[t - 2], mixed[t]]
    return margin


@kernel
def _sum_gamma(sets, gamma, length, sums):
    """Sum γ by position."""
    for each in (sums.alone, sums.both, sums.left, sums.right):
        for t in range(length):
            each[t] = 0.0
    sums.gamma[:] = 0.0
    for j in range(gamma.size):
        sums.gamma[j] = gamma[j]
        if gamma[j] > 0.0:
            positions = sets.positions[sets.starts[j] : sets.starts[j + 1]]
            for i in range(positions.size):
                t = positions[i]
                sums.alone[t] += gamma[j]
                if i > 0 and positions[i - 1] == t - 1:
                    sums.both[t] += gamma[j]
                elif t > 0:
                    sums.right[t] += gamma[j]
                if not (i + 1 < positions.size and positions[i + 1] == t + 1):
                    sums.left[t + 1] += gamma[j]


@kernel
def _weigh_substructures(strategy, wrong, gold, path, marks, rich, lattice, sets, sums, tallies_out):
    """Choose JJ and γ for a wrong prediction, and write the sums of γ to `sums`; count in `tallies_out`."""
    order = 2 if lattice.triple.size else 1
    n = find_substructures(strategy.substructures, wrong, gold, path, marks, strategy.max_errors, order, sets)
    margins, gamma = np.empty(n), np.empty(n)
    mixed = np.empty_like(gold)
    for j in range(n):
        positions = sets.positions[sets.starts[j] : sets.starts[j + 1]]
        margins[j] = _margin(positions, gold, path, rich, lattice)
        if order == 2:
            _write_mixed_assignment(positions, gold, path, mixed)
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
    _sum_gamma(sets, gamma, gold.size, sums)


@kernel
def add_weighted_differences(rows, first, gold, path, sets, sums, rate, factor, plain_edges, weights):
    """Do w += rate · Σ_J γ_J (Φ(x, gold) − Φ(x, m^J)) for the sequence that begins at `first`.

    Plane 1 receives `factor` times each change.

    Returns
    -------
    The change of ‖w‖².
    """
    change = 0.0
    for t in range(gold.size):
        steps = rate * sums.alone[t], rate * sums.both[t], rate * sums.left[t], rate * sums.right[t]
        before, now = (gold[t - 1], path[t - 1]), (gold[t], path[t])
        change = add_position(change, rows, first + t, before, now, steps, factor, plain_edges, weights)
    if weights.triple.size:
        mixed = np.empty_like(gold)
        for j in range(sums.gamma.size):
            if sums.gamma[j] > 0.0:
                positions = sets.positions[sets.starts[j] : sets.starts[j + 1]]
                _write_mixed_assignment(positions, gold, path, mixed)
                change += add_triples(gold, mixed, rate * sums.gamma[j], factor, weights.triple)
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
    tallies_out: Floats,
) -> float:
    """Predict, then learn, every sequence of a batch in order.

    Parameters
    ----------
    batch, count, norm_squared, averaging, search, weights : as for `perceptron_pass`, including the losses.
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
    longest_path, wrong = np.empty(longest, np.int32), np.empty(longest, np.int64)
    sets = new_substructures(longest, strategy.max_errors)
    sums = new_gamma_sums(longest, sets.starts.size - 1)
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gold, path = batch.labels[first:last], longest_path[: last - first]
        share = average_share(averaging, count)
        _, size = predict_augmented(batch, i, n_labels, share, search, weights, lattice, path)
        gold, path, n_wrong = gold[:size], path[:size], 0
        for t in range(size):
            if path[t] != gold[t]:
                wrong[n_wrong] = t
                n_wrong += 1
        if n_wrong:
            _weigh_substructures(
                strategy, wrong[:n_wrong], gold, path, batch.marks, rich, lattice, sets, sums, tallies_out
            )
            factor, plain = average_factor(averaging, count), batch.plain_edges
            # Added sequence by sequence, so that the cut into batches changes no bit of it.
            norm_squared += add_weighted_differences(
                rows, first, gold, path, sets, sums, batch.importance[i], factor, plain, weights
            )
        batch.loss_out[i] = n_wrong
        n_labels = known_after[i]
        count += 1
        rescale(averaging, count, rows.used, weights)
    return norm_squared
