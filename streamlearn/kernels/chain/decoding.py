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
def decode(task: Decoding, path_out: Int32s) -> None:
    """Write the best labelling of each sequence to `path_out`, int32[n]."""
    rows, n_labels, plane, share, mask, weights = task
    lattice = new_lattice(rows, n_labels, 2 if plane or share else 1, weights)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gather(rows, first, last, weights, lattice)
        best_labelling(n_labels, rich, weights, plane, share, mask, lattice, path_out[first:last])


@kernel
def decode_marginals(
    task: Decoding, token_out: Floats, node_out: Floats, sequence_out: Floats, log_z_out: Floats
) -> None:
    """Write the probability of the best labelling y of each sequence, among those that are allowed.

    Parameters
    ----------
    token_out : float64[n], P(y_t | x).
    node_out : float64[n, L], that of every label; float64[0, 0] if not wanted.
    sequence_out, log_z_out : float64[N], log P(y | x) and log Z.
    """
    rows, n_labels, plane, share, mask, weights = task
    lattice = new_lattice(rows, n_labels, 2 if plane or share else 1, weights)
    out = new_expected(lattice)
    longest = np.empty(lattice.emit.shape[0], np.int32)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        path = longest[: last - first]
        gather(rows, first, last, weights, lattice)
        best = best_labelling(n_labels, rich, weights, plane, share, mask, lattice, path)
        log_z_out[i] = expect(lattice, path.size, n_labels, rich, out)
        sequence_out[i] = best - log_z_out[i]
        for t in range(path.size):
            token_out[first + t] = out.first.node[t, path[t]]
        if node_out.size:
            node_out[first:last] = out.first.node[: path.size, :n_labels]


@kernel
def decode_k_best(task: Decoding, paths_out: Int32s, scores_out: Floats) -> None:
    """Write the K best labellings of each sequence: `paths_out` int32[K, n], `scores_out` float64[N, K].

    If fewer labellings are allowed, the remaining scores are -inf.
    """
    rows, n_labels, plane, share, mask, weights = task
    lattice = new_lattice(rows, n_labels, 2 if plane or share else 1, weights)
    search = new_k_best(lattice, scores_out.shape[1])
    path = np.empty(lattice.emit.shape[0], np.int32)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gather(rows, first, last, weights, lattice)
        # Finding the best labelling decides whether the mask is ignored.
        best_labelling(n_labels, rich, weights, plane, share, mask, lattice, path[: last - first])
        k_best(lattice, last - first, n_labels, rich, search, paths_out[:, first:last], scores_out[i])
