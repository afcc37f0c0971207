"""Collins' structured perceptron (Collins 2002, figure 1) over a batch, one sequence after the other.

Plane 0 of the weights is w; plane 1 belongs to its average, as `streamlearn.kernels.updates.averaging` says.
"""

import numpy as np

from streamlearn.kernels.chain.lattice import Weights, new_lattice
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.augmented_prediction import Search, hamming_distance, predict_augmented
from streamlearn.kernels.updates.averaging import Averaging, average_factor, average_share, rescale
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.weight_changes import add_position, add_triples


@inner_kernel
def add_difference(rows, first, gold, path, rate, factor, plain_edges, weights):
    """Do w += rate · (Φ(x, gold) − Φ(x, path)) for the sequence that begins at `first`.

    Only positions where the two labellings differ are visited. Plane 1 receives `factor` times each change;
    there need not be such a plane where that is 0.

    Returns
    -------
    The change of ‖w‖².
    """
    change = 0.0
    for t in range(gold.size):
        single = gold[t] != path[t]
        pair = t > 0 and (single or gold[t - 1] != path[t - 1])
        if single or pair:
            steps = rate if single else 0.0, rate if pair else 0.0, 0.0, 0.0
            before, now = (gold[t - 1], path[t - 1]), (gold[t], path[t])
            change = add_position(change, rows, first + t, before, now, steps, factor, plain_edges, weights)
    if weights.triple.size:
        change += add_triples(gold, path, rate, factor, weights.triple)
    return change


@kernel
def perceptron_pass(
    batch: Pass,
    count: int,
    norm_squared: float,
    averaging: Averaging,
    search: Search,
    weights: Weights,
) -> float:
    """Predict, then learn, every sequence of a batch in order.

    The loss of a sequence is the number of wrong labels in the labelling that its update moved away from: 0
    for no update. Its importance is a factor of the update.

    Parameters
    ----------
    count : sequences learned before this batch; norm_squared : ‖w‖² of the last weights before it.
    averaging : of the weights that predict; updates always use the last ones.
    search : for the labelling that updates move away from; without cost and beam they are Collins' own.
    weights : of two planes, changed in place.

    Returns
    -------
    ‖w‖² of the last weights.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    lattice = new_lattice(rows, max(n_labels, known_after[-1]), 2 if averaging.kind else 1, weights)
    longest_path = np.empty(lattice.emit.shape[0], np.int32)
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gold, path = batch.labels[first:last], longest_path[: last - first]
        share = average_share(averaging, count)
        _, size = predict_augmented(batch, i, n_labels, share, search, weights, lattice, path)
        gold, path = gold[:size], path[:size]
        wrong = hamming_distance(gold, path)
        if wrong:
            factor = average_factor(averaging, count)
            # Added sequence by sequence, so that the cut into batches changes no bit of it.
            norm_squared += add_difference(
                rows, first, gold, path, batch.importance[i], factor, batch.plain_edges, weights
            )
        batch.loss_out[i] = wrong
        n_labels = known_after[i]
        count += 1
        rescale(averaging, count, rows.used, weights)
    return norm_squared
