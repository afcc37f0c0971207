"""The voted perceptron (Freund & Schapire 1999; Collins 2002) over a batch, bounded: the last K vectors vote.

Every weight vector labels the sequence, and has as many votes as sequences were learned while it was the
newest; the labelling with most votes wins. Collins' perceptron moves the newest.

Plane 0 of the weights is the newest vector w. Before update u, counted from 0, moves it, the vector is put
away in plane 1 + u mod (K − 1), over the one that was the oldest; a row only once it is active. Until then
all vectors have in it what plane 0 has: `metas` float64[row, 1] says from which update on.
"""

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.chain.augmented_decoding import Search, find_rival
from streamlearn.kernels.chain.lattice import Weights, gather, new_lattice
from streamlearn.kernels.chain.mask import best_labelling
from streamlearn.kernels.jit import kernel
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.perceptron import add_difference

_EXACT = Search(0.0, 0, False)


@kernel
def put_away(row, updates, weights, meta):
    """Write to all planes of a row what it held before each of the updates so far."""
    kept = weights.shape[1] - 1
    for update in range(max(int(meta[row, 0]), updates - kept), updates):
        weights[row, 1 + update % kept] = weights[row, 0]
    meta[row, 0] = updates


@kernel
def settled(rows, weights, meta, updates, weights_out):
    """Write some rows with all their planes as they are now, changing nothing.

    `rows` is int32[R]; `weights_out` is shaped like R rows of `weights`.
    """
    meta_out = np.empty((rows.size, 1))
    for i in range(rows.size):
        weights_out[i] = weights[rows[i]]
        meta_out[i] = meta[rows[i]]
        put_away(i, updates, weights_out, meta_out)


@kernel
def _put_away_active(rows, first, last, updates, weights, metas):
    """Do so for all rows that a sequence, and every sequence, is active in."""
    for i in range(rows.node_starts[first], rows.node_starts[last]):
        if rows.node_rows[i] >= 0:
            put_away(rows.node_rows[i], updates, weights.node, metas[0])
    if rows.edge_rows.size:
        for i in range(rows.edge_starts[first], rows.edge_starts[last]):
            if rows.edge_rows[i] >= 0:
                put_away(rows.edge_rows[i], updates, weights.edge, metas[1])
    put_away(0, updates, weights.edge, metas[1])
    for row in range(weights.triple.shape[0]):
        put_away(row, updates, weights.triple, metas[2])


@kernel
def vote(n_labels, rich, weights, votes, mask, lattice, paths, path_out):
    """Find the labelling of a gathered sequence with most votes; of equals, the newest vector's, if any.

    Parameters
    ----------
    n_labels, rich, weights, mask, lattice : as for `streamlearn.kernels.chain.mask.best_labelling`.
    votes : int64[K], of each plane.
    paths : int32[K, T], room; path_out : int32[T].
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
def voted_pass(
    batch: Pass,
    updates: int,
    weights: Weights,
    metas: tuple[NDArray[np.float64], ...],
    votes: NDArray[np.int64],
) -> int:
    """Predict, then learn, every sequence of a batch in order.

    Parameters
    ----------
    batch : as for `perceptron_pass`, and the losses too.
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
    paths, path = np.empty((votes.size, longest), np.int32), np.empty(longest, np.int32)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gold, rival = batch.labels[first:last], path[: last - first]
        _put_away_active(rows, first, last, updates, weights, metas)
        find_rival(batch, i, n_labels, 0.0, _EXACT, weights, lattice, rival)
        if n_labels:
            predicted, room = batch.predicted_out[first:last], paths[:, : gold.size]
            vote(n_labels, rich, weights, votes, batch.mask, lattice, room, predicted)
        wrong = 0
        for t in range(gold.size):
            wrong += rival[t] != gold[t]
        if wrong:
            if kept:
                votes[1 + updates % kept] = votes[0]
            votes[0] = 0
            updates += 1
            _put_away_active(rows, first, last, updates, weights, metas)
            add_difference(rows, first, gold, rival, batch.importance[i], 0.0, batch.plain_edges, weights)
        votes[0] += 1
        batch.loss_out[i] = wrong
        n_labels = known_after[i]
    return updates


@kernel
def decode_by_vote(rows, n_labels, votes, mask, weights, path_out):
    """Give the labelling of each sequence that has most votes; `path_out` is int32[n]."""
    lattice = new_lattice(rows, n_labels, votes.size, weights)
    paths = np.empty((votes.size, lattice.emit.shape[0]), np.int32)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gather(rows, first, last, weights, lattice)
        vote(n_labels, rich, weights, votes, mask, lattice, paths[:, : last - first], path_out[first:last])
