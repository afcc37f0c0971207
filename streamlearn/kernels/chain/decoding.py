"""Labelling every sequence of a batch: the best labelling, how probable it is, and the K best.

All take the batch, the weights (of each a plane minus `share` times plane 1) and a mask alike.
"""

import numpy as np

from streamlearn.kernels.chain.k_best import k_best, new_k_best
from streamlearn.kernels.chain.lattice import gather, new_lattice
from streamlearn.kernels.chain.marginals_second_order import expect, new_expected
from streamlearn.kernels.chain.mask import best_labelling
from streamlearn.kernels.jit import kernel


@kernel
def decode(rows, n_labels, plane, share, mask, weights, path_out):
    """Give the best labelling of each sequence; `path_out` is int32[n]."""
    lattice = new_lattice(rows, n_labels, 2 if plane or share else 1, weights)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gather(rows, first, last, weights, lattice)
        best_labelling(n_labels, rich, weights, plane, share, mask, lattice, path_out[first:last])


@kernel
def decode_marginals(rows, n_labels, plane, share, mask, weights, token_out, sequence_out, log_z_out):
    """Give how probable the best labelling y of each sequence is, among those that are allowed.

    Parameters
    ----------
    token_out : float64[n], P(y_t | x).
    sequence_out, log_z_out : float64[N], log P(y | x) and log Z.
    """
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


@kernel
def decode_k_best(rows, n_labels, plane, share, mask, weights, paths_out, scores_out):
    """Give the K best labellings of each sequence; `paths_out` is int32[K, n], `scores_out` float64[N, K].

    Scores are -inf where fewer are allowed.
    """
    lattice = new_lattice(rows, n_labels, 2 if plane or share else 1, weights)
    search = new_k_best(lattice, scores_out.shape[1])
    path = np.empty(lattice.emit.shape[0], np.int32)
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        gather(rows, first, last, weights, lattice)
        # Whether the mask counts is for the best labelling to say.
        best_labelling(n_labels, rich, weights, plane, share, mask, lattice, path[: last - first])
        k_best(lattice, last - first, n_labels, rich, search, paths_out[:, first:last], scores_out[i])
