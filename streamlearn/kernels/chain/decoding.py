"""Decoding every sequence of a batch: the best labelling, its probability, and the K best labellings."""

from typing import NamedTuple

import numpy as np

from streamlearn.data import Rows
from streamlearn.kernels.arrays import Floats, Int32s
from streamlearn.kernels.chain.k_best import k_best, new_k_best
from streamlearn.kernels.chain.lattice import Weights, gather, new_lattice
from streamlearn.kernels.chain.marginals_second_order import expect, new_expected
from streamlearn.kernels.chain.mask import Mask, best_labelling
from streamlearn.kernels.jit import kernel


class Decoding(NamedTuple):
    """N sequences with n positions to decode, and how.

    Attributes
    ----------
    rows : the active rows of the weights.
    n_labels : number of labels that may be predicted.
    plane, share : the weights are those of this plane, minus `share` times plane 1.
    mask : what is allowed.
    weights : of the planes that are read.
    """

    rows: Rows
    n_labels: int
    plane: int
    share: float
    mask: Mask
    weights: Weights


@kernel
def _best(task, i, lattice, path_out):
    """Find the best labelling of sequence `i`; return its score."""
    rows = task.rows
    gather(rows, rows.starts[i], rows.starts[i + 1], task.weights, lattice)
    rich = rows.edge_rows.size > 0
    return best_labelling(
        task.n_labels, rich, task.weights, task.plane, task.share, task.mask, lattice, path_out
    )


@kernel
def decode(task: Decoding, path_out: Int32s) -> None:
    """Write the best labelling of each sequence to `path_out`, int32[n]."""
    starts = task.rows.starts
    lattice = new_lattice(task.rows, task.n_labels, 2 if task.plane or task.share else 1, task.weights)
    for i in range(starts.size - 1):
        _best(task, i, lattice, path_out[starts[i] : starts[i + 1]])


@kernel
def decode_marginals(task: Decoding, token_out: Floats, sequence_out: Floats, log_z_out: Floats) -> None:
    """Write the probability of the best labelling y of each sequence, among those that are allowed.

    Parameters
    ----------
    token_out : float64[n], P(y_t | x).
    sequence_out, log_z_out : float64[N], log P(y | x) and log Z.
    """
    starts, rich = task.rows.starts, task.rows.edge_rows.size > 0
    lattice = new_lattice(task.rows, task.n_labels, 2 if task.plane or task.share else 1, task.weights)
    out = new_expected(lattice)
    longest = np.empty(lattice.emit.shape[0], np.int32)
    for i in range(starts.size - 1):
        path = longest[: starts[i + 1] - starts[i]]
        best = _best(task, i, lattice, path)
        log_z_out[i] = expect(lattice, path.size, task.n_labels, rich, out)
        sequence_out[i] = best - log_z_out[i]
        for t in range(path.size):
            token_out[starts[i] + t] = out.first.node[t, path[t]]


@kernel
def decode_k_best(task: Decoding, paths_out: Int32s, scores_out: Floats) -> None:
    """Write the K best labellings of each sequence: `paths_out` int32[K, n], `scores_out` float64[N, K].

    If fewer labellings are allowed, the remaining scores are -inf.
    """
    starts, rich = task.rows.starts, task.rows.edge_rows.size > 0
    lattice = new_lattice(task.rows, task.n_labels, 2 if task.plane or task.share else 1, task.weights)
    search = new_k_best(lattice, scores_out.shape[1])
    path = np.empty(lattice.emit.shape[0], np.int32)
    for i in range(starts.size - 1):
        first, last = starts[i], starts[i + 1]
        # Finding the best labelling decides whether the mask is ignored.
        _best(task, i, lattice, path[: last - first])
        k_best(lattice, last - first, task.n_labels, rich, search, paths_out[:, first:last], scores_out[i])
