"""The voted perceptron (Freund & Schapire 1999; Collins 2002) over a batch, bounded: the last K vectors vote.

Every weight vector labels the sequence, and has one vote for each sequence learned while it was the newest;
the labelling with the most votes wins. Collins' perceptron updates the newest.

Plane 0 of the weights is the newest vector w. Before update u, counted from 0, changes it, the vector is
copied to plane 1 + u mod (K − 1), over the oldest one. This is done lazily, for a row only when it is active:
until then plane 0 is its value in all vectors since the update that `metas` float64[row, 1] holds.
"""

import numpy as np

from streamlearn.kernels.arrays import Floats, Int32s, Int64s
from streamlearn.kernels.chain.decoding import Decoding
from streamlearn.kernels.chain.lattice import Weights, gather, new_lattice
from streamlearn.kernels.chain.mask import best_labelling
from streamlearn.kernels.jit import kernel
from streamlearn.kernels.updates.augmented_prediction import Search, hamming_distance, predict_augmented
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.perceptron import add_difference

_EXACT = Search(0.0, 0, False)


@kernel
def catch_up(row, updates, weights, meta):
    """Write the older vectors of a row: its values before each of the updates so far."""
    kept = weights.shape[1] - 1
    for update in range(max(int(meta[row, 0]), updates - kept), updates):
        weights[row, 1 + update % kept] = weights[row, 0]
    meta[row, 0] = updates


@kernel
def caught_up(rows: Int32s, weights: Floats, meta: Floats, updates: int, weights_out: Floats) -> None:
    """Write the current values of some rows, int32[R], of all planes; `weights` do not change.

    `weights_out` is shaped like R rows of `weights`.
    """
    meta_out = np.empty((rows.size, 1))
    for i in range(rows.size):
        weights_out[i] = weights[rows[i]]
        meta_out[i] = meta[rows[i]]
        catch_up(i, updates, weights_out, meta_out)


@kernel
def _catch_up_active(rows, first, last, updates, weights, metas):
    """Do so for all rows that are active in a sequence."""
    for i in range(rows.node_starts[first], rows.node_starts[last]):
        if rows.node_rows[i] >= 0:
            catch_up(rows.node_rows[i], updates, weights.node, metas[0])
    if rows.edge_rows.size:
        for i in range(rows.edge_starts[first], rows.edge_starts[last]):
            if rows.edge_rows[i] >= 0:
                catch_up(rows.edge_rows[i], updates, weights.edge, metas[1])
    catch_up(0, updates, weights.edge, metas[1])
    for row in range(weights.triple.shape[0]):
        catch_up(row, updates, weights.triple, metas[2])


@kernel
def vote(n_labels, rich, weights, votes, mask, lattice, paths, path_out):
    """Find the labelling of a gathered sequence with the most votes; of equals, the newest vector's, if any.

    Parameters
    ----------
    n_labels, rich, weights, mask, lattice : as for `streamlearn.kernels.chain.mask.best_labelling`.
    votes : int64[K], of each plane.
    paths : int32[K, T], overwritten; path_out : int32[T].
    """
    for k in range(votes.size):
        if votes[k] or k == 0:
            best_labelling(n_labels, rich, weights, k, 0.0, mask, lattice, paths[k])
    most = -1
    for k in range(votes.size):
        total = 0
        if votes[k] or k == 0:
            for other in range(votes.size):
                if votes[other] and (paths[other] == paths[k]).all():
                    total += votes[other]
            if total > most:
                most = total
                path_out[:] = paths[k]


@kernel
def voted_pass(batch: Pass, updates: int, weights: Weights, metas: tuple[Floats, ...], votes: Int64s) -> int:
    """Predict, then learn, every sequence of a batch in order.

    Parameters
    ----------
    batch : as for `perceptron_pass`, including the losses.
    updates : made before this batch.
    weights : of K planes; metas : float64[rows, 1] of node, edge and triple; votes : int64[K], of each
        plane. Changed in place.

    Returns
    -------
    The number of updates after this batch.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    kept = votes.size - 1
    lattice = new_lattice(rows, max(n_labels, known_after[-1]), votes.size, weights)
    longest = lattice.emit.shape[0]
    longest_paths, longest_path = np.empty((votes.size, longest), np.int32), np.empty(longest, np.int32)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gold, path = batch.labels[first:last], longest_path[: last - first]
        _catch_up_active(rows, first, last, updates, weights, metas)
        predict_augmented(batch, i, n_labels, 0.0, _EXACT, weights, lattice, path)
        if n_labels:
            predicted, paths = batch.predicted_out[first:last], longest_paths[:, : gold.size]
            vote(n_labels, rich, weights, votes, batch.mask, lattice, paths, predicted)
        wrong = hamming_distance(gold, path)
        if wrong:
            if kept:
                votes[1 + updates % kept] = votes[0]
            votes[0] = 0
            updates += 1
            _catch_up_active(rows, first, last, updates, weights, metas)
            add_difference(rows, first, gold, path, batch.importance[i], 0.0, batch.plain_edges, weights)
        votes[0] += 1
        batch.loss_out[i] = wrong
        n_labels = known_after[i]
    return updates


@kernel
def decode_by_vote(task: Decoding, votes: Int64s, path_out: Int32s) -> None:
    """Write the labelling of each sequence with the most votes to `path_out`, int32[n]."""
    rows, weights, mask = task.rows, task.weights, task.mask
    lattice = new_lattice(rows, task.n_labels, votes.size, weights)
    longest_paths = np.empty((votes.size, lattice.emit.shape[0]), np.int32)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gather(rows, first, last, weights, lattice)
        paths = longest_paths[:, : last - first]
        vote(task.n_labels, rich, weights, votes, mask, lattice, paths, path_out[first:last])
