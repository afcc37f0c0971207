"""Decoding with a mask: some labels may not be first or last, some may not follow each other.

A mask is added to the scores, so that -inf forbids. Everything that reads the scores afterwards (the best
labelling, the k best, marginals) respects it without further code.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.arrays import Floats
from streamlearn.kernels.chain.beam import beam_search, best_prefix
from streamlearn.kernels.chain.lattice import score
from streamlearn.kernels.chain.viterbi import viterbi
from streamlearn.kernels.jit import inner_kernel, kernel


class Mask(NamedTuple):
    """What may be predicted: arrays of 0 or -inf, all three empty where everything is allowed.

    Attributes
    ----------
    first, last : float64[L], the labels that a sequence may begin and end with; of all labels or more.
    pairs : float64[L, L], [y_prev, y], the transitions.
    beam : labels that the search keeps at each position; 0 for all.
    """

    first: Floats
    pairs: Floats
    last: Floats
    beam: int = 0


ANYTHING = Mask(np.empty(0), np.empty((0, 0)), np.empty(0))


@inner_kernel
def _forbid(lattice, length, n_labels, rich, mask):
    emit, trans = lattice.emit, lattice.trans
    for y in range(n_labels):
        emit[0, y] += mask.first[y]
        emit[length - 1, y] += mask.last[y]
    plain = lattice.sparse.plain
    for t in range(length if rich and plain.size == 0 else 1):
        for y_prev in range(n_labels):
            for y in range(n_labels):
                trans[t, y_prev, y] += mask.pairs[y_prev, y]
    if plain.size:
        for y_prev in range(n_labels):
            for y in range(n_labels):
                plain[y_prev, y] += mask.pairs[y_prev, y]


@kernel
def _search(lattice, n_labels, rich, mask, path_out):
    if mask.beam:
        return best_prefix(beam_search(lattice, path_out.size, n_labels, rich, mask.beam), path_out)
    return viterbi(lattice, n_labels, rich, path_out)


@kernel
def best_labelling(n_labels, rich, weights, plane, share, mask, lattice, path_out):
    """Score a gathered sequence, and find the best labelling that the mask allows.

    The masked scores remain in `lattice`. If the mask forbids all labellings that the search can find, for
    instance before the labels that it requires are known, it is ignored.

    Parameters
    ----------
    n_labels : L ≥ 1; rich, weights, plane, share, lattice : as for `streamlearn.kernels.chain.lattice.score`.
    path_out : int32[T], T ≥ 1; ties as for `streamlearn.kernels.chain.viterbi.viterbi`.

    Returns
    -------
    The score of the path.
    """
    score(path_out.size, n_labels, rich, weights, plane, share, lattice)
    if mask.pairs.size:
        _forbid(lattice, path_out.size, n_labels, rich, mask)
        best = _search(lattice, n_labels, rich, mask, path_out)
        if best > -np.inf:
            return best
        score(path_out.size, n_labels, rich, weights, plane, share, lattice)
    return _search(lattice, n_labels, rich, mask, path_out)
