"""Beam search over a chain, and the prefix that an update moves away from when the search is inexact.

At each position the best `width` labels are kept, each with the best prefix that ends in it, so that a step
costs width · L instead of L². If all labels are kept, this is the Viterbi algorithm.

A narrower beam may lose the gold labelling y, and find a z with a lower score. Then w += Φ(x, y) − Φ(x, z)
corrects no mistake of the weights, and the perceptron's bound does not hold. It holds if both are cut to a
prefix that is a violation: the best prefix in the beam scores at least as much as that of y (Huang, Fayong &
Guo 2012, theorem 1). Such prefixes are

- early: the first whose last gold label is not kept, or the whole if each is kept (Collins & Roark 2004).
  While gold labels are kept, the best prefix that ends in one scores at least as much as that of y; when one
  is not, all prefixes in the beam do. With a beam of all labels, this is the perceptron's own update.
- max: the one where the best prefix exceeds that of y by most (section 4 there), the longest of equals.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.chain.transitions import transitions_at
from streamlearn.kernels.chain.viterbi import step
from streamlearn.kernels.jit import kernel

# score float64[T, L] and back int32[T, L]: the best prefix that ends in each label, of what was kept before;
# kept int32[T, width], ascending; best int32[T], the best label of each position.
Beam = namedtuple("Beam", "score back kept best")


@kernel
def _keep(scores, kept_out):
    """Find the labels with the best scores, ascending, of equals the lower ones; return the best."""
    width, found = kept_out.size, 0
    for y in range(scores.size):
        if found < width or scores[y] > scores[kept_out[width - 1]]:
            found = min(found + 1, width)
            k = found - 1
            while k > 0 and scores[y] > scores[kept_out[k - 1]]:
                kept_out[k] = kept_out[k - 1]
                k -= 1
            kept_out[k] = y
    best = kept_out[0]
    kept_out.sort()
    return best


@kernel
def beam_search(lattice, length, n_labels, rich, width):
    """Search a scored sequence, keeping the best `width` ≥ 1 of its labels at each position.

    `rich` is as for `streamlearn.kernels.chain.viterbi.viterbi`.

    Returns
    -------
    Beam.
    """
    L, width = n_labels, min(width, n_labels)
    beam = Beam(
        np.empty((length, L)),
        np.zeros((length, L), np.int32),
        np.empty((length, width), np.int32),
        np.empty(length, np.int32),
    )
    for t in range(length):
        now = beam.score[t]
        if t == 0:
            now[:] = 0.0
        else:
            trans = lattice.trans[transitions_at(lattice, t) if rich else 0]
            step(beam.score[t - 1], trans, beam.kept[t - 1], width, L, now, beam.back[t])
        for y in range(L):
            now[y] += lattice.emit[t, y]
        beam.best[t] = _keep(now, beam.kept[t])
    return beam


@kernel
def best_prefix(beam, path_out):
    """Find the best prefix of the length of `path_out`, int32[·] ≥ 1; return its score."""
    last = path_out.size - 1
    path_out[last] = beam.best[last]
    for t in range(last, 0, -1):
        path_out[t - 1] = beam.back[t, path_out[t]]
    return beam.score[last, path_out[last]]


@kernel
def violation(lattice, gold, rich, beam, is_early):
    """Return the length of the prefix that an update moves away from, if the best labelling is not gold."""
    score, largest, length = 0.0, -np.inf, gold.size
    for t in range(gold.size):
        if t > 0:
            score += lattice.trans[transitions_at(lattice, t) if rich else 0, gold[t - 1], gold[t]]
        score += lattice.emit[t, gold[t]]
        if is_early:
            if not (beam.kept[t] == gold[t]).any():
                return t + 1
        elif beam.score[t, beam.best[t]] - score >= largest:
            largest, length = beam.score[t, beam.best[t]] - score, t + 1
    return length
