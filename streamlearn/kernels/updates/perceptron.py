"""Collins' structured perceptron (Collins 2002, figure 1) over a batch, one sequence after the other.

Plane 0 of the weights is w; plane 1 belongs to its average, as `streamlearn.kernels.updates.averaging` says.
"""

import numpy as np

from streamlearn.kernels.chain.augmented_decoding import Search, find_rival
from streamlearn.kernels.chain.lattice import Weights, new_lattice
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.averaging import Averaging, due, rescale, share
from streamlearn.kernels.updates.batch_pass import Pass


@inner_kernel
def add_step(weights, row, slot, y, step, owed):
    """Add `step` to one weight and `owed` times as much to plane 1; give the change of weight²."""
    before = weights[row, 0, slot, y]
    weights[row, 0, slot, y] = before + step
    if owed:
        weights[row, 1, slot, y] += owed * step
    return step * (2.0 * before + step)


@inner_kernel
def add_difference(rows, first, gold, path, rate, owed, plain_edges, weights):
    """Do w += rate · (Φ(x, gold) − Φ(x, path)) for the sequence that begins at `first`.

    Only positions where the two labellings differ are touched. Plane 1 gets `owed` times as much;
    there need not be one where that is 0.

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
        single = y != z
        pair = t > 0 and (single or gold[t - 1] != path[t - 1])
        if single:
            for i in range(rows.node_starts[at], rows.node_starts[at + 1]):
                row = rows.node_rows[i]
                if row >= 0:
                    step = rate * rows.node_values[i] if weighted else rate
                    change += add_step(node, row, 0, y, step, owed)
                    change += add_step(node, row, 0, z, -step, owed)
        if pair and plain_edges:
            change += add_step(edge, 0, 1 + gold[t - 1], y, rate, owed)
            change += add_step(edge, 0, 1 + path[t - 1], z, -rate, owed)
        if rich and (single or pair):
            begin = rows.edge_starts[at]
            for i in range(begin, rows.edge_starts[at + 1]):
                row = rows.edge_rows[i]
                if row >= 0:
                    if single and i < begin + rows.edge_singles:
                        change += add_step(edge, row, 0, y, rate, owed)
                        change += add_step(edge, row, 0, z, -rate, owed)
                    if pair:
                        change += add_step(edge, row, 1 + gold[t - 1], y, rate, owed)
                        change += add_step(edge, row, 1 + path[t - 1], z, -rate, owed)
    if triple.size:
        change += add_triples(gold, path, rate, owed, triple)
    return change


@inner_kernel
def add_triples(gold, path, rate, owed, triple):
    """Do the same for the triples of labels; give the change of ‖w‖²."""
    change = 0.0
    for t in range(2, gold.size):
        if gold[t] != path[t] or gold[t - 1] != path[t - 1] or gold[t - 2] != path[t - 2]:
            change += add_step(triple, gold[t - 2], 1 + gold[t - 1], gold[t], rate, owed)
            change += add_step(triple, path[t - 2], 1 + path[t - 1], path[t], -rate, owed)
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

    The loss of a sequence is the number of wrong labels in what its update moved away from: 0 for no update.

    Parameters
    ----------
    count : sequences learned before this batch; norm_squared : ‖w‖² of the last weights by then.
    averaging : of the weights that predict; the update always goes by the last ones.
    search : for what updates move away from; with neither cost nor beam they are Collins' own.
    weights : of two planes, changed in place.

    Returns
    -------
    ‖w‖² of the last weights.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    lattice = new_lattice(rows, max(n_labels, known_after[-1]), 2 if averaging.kind else 1, weights)
    path = np.empty(lattice.emit.shape[0], np.int32)
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gold, rival = batch.labels[first:last], path[: last - first]
        taken = share(averaging, count)
        _, size = find_rival(batch, i, n_labels, taken, search, weights, lattice, rival)
        gold, rival, wrong = gold[:size], rival[:size], 0
        for t in range(size):
            wrong += rival[t] != gold[t]
        if wrong:
            # Added sequence by sequence, so that the cut into batches changes no bit of it.
            owed = due(averaging, count)
            norm_squared += add_difference(
                rows, first, gold, rival, batch.importance[i], owed, batch.plain_edges, weights
            )
        batch.loss_out[i] = wrong
        n_labels = known_after[i]
        count += 1
        rescale(averaging, count, rows.used, weights)
    return norm_squared
