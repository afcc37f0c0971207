"""The best labelling of a linear chain, of the first or the second order.

In the second order a state is a pair of labels. For a fixed label in the middle, a step is one of a
first-order chain, from the label before it to the label after it.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.chain.transitions import transitions_at
from streamlearn.kernels.jit import inner_kernel, kernel

# Scores are of the best labelling up to a position that ends in a label, or in a pair of labels. best
# float64[2, L], back int32[T, L]; pair_best float64[2, L, L], [y_prev, y], and pair_back int16[T, L, L],
# [y_prev, y]: empty in the first order; best_step float64[1 or L, L]: the best transition from a label, for
# each label in the middle; before float64[L] and candidates int32[L]: working arrays of one step.
Trellis = namedtuple("Trellis", "best back pair_best pair_back best_step before candidates")


@kernel
def new_trellis(longest, n_labels, middles):
    """Allocate for sequences of up to `longest` positions; `middles` is L in the second order, else 0."""
    return Trellis(
        np.empty((2, n_labels)),
        np.empty((longest, n_labels), np.int32),
        np.empty((2, middles, middles)),
        np.empty((longest if middles else 0, middles, middles), np.int16),
        np.empty((max(1, middles), n_labels)),
        np.empty(n_labels),
        np.empty(n_labels, np.int32),
    )


@inner_kernel
def _find_best_step(trans, L, best_step_out):
    """Find the score of the best transition from each label."""
    for y_prev in range(L):
        best_step_out[y_prev] = trans[y_prev, 0]
        for y in range(1, L):
            best_step_out[y_prev] = max(best_step_out[y_prev], trans[y_prev, y])


@inner_kernel
def _find_candidates(before, trans, best_step, n_labels, candidates_out):
    """Find the previous labels that can be the best before some label, ascending; return their number.

    Let b be the best previous label. A label whose own score plus its `best_step` is below
    min_y before[b] + trans[b, y] is worse than b before every y: exactly, since rounding is monotone.
    """
    b = 0
    for y in range(1, n_labels):
        if before[y] > before[b]:
            b = y
    least = np.inf
    for y in range(n_labels):
        least = min(least, before[b] + trans[b, y])
    found = 0
    for y_prev in range(n_labels):
        if before[y_prev] + best_step[y_prev] >= least:
            candidates_out[found] = y_prev
            found += 1
    return found


@inner_kernel
def step(before, trans, candidates, n_candidates, L, now_out, back_out):
    """Find the best previous label before each label, of equals the first candidate, and the score so far."""
    for y in range(L):
        now_out[y] = before[candidates[0]] + trans[candidates[0], y]
        back_out[y] = candidates[0]
    for i in range(1, n_candidates):
        y_prev = candidates[i]
        for y in range(L):
            candidate = before[y_prev] + trans[y_prev, y]
            if candidate > now_out[y]:
                now_out[y] = candidate
                back_out[y] = y_prev


@inner_kernel
def viterbi(lattice, n_labels, rich, path_out):
    """Find the labelling of the highest score; ties are won by the lower label, from the last position on.

    Parameters
    ----------
    rich : whether `lattice.trans` depends on the position; -inf in it forbids.
    path_out : int32[T], T ≥ 1.

    Returns
    -------
    The score of the path.
    """
    if lattice.triple.size and path_out.size > 2:
        return _viterbi_of_pairs(lattice, n_labels, rich, path_out)
    L, emit = n_labels, lattice.emit
    best, back, candidates = lattice.trellis.best, lattice.trellis.back, lattice.trellis.candidates
    best_step = lattice.trellis.best_step[0]
    length = path_out.size
    n_candidates = L
    for y in range(L):
        best[0, y] = emit[0, y]
        candidates[y] = y
    _find_best_step(lattice.trans[0], L, best_step)
    for t in range(1, length):
        before, now = best[(t - 1) & 1], best[t & 1]
        trans = lattice.trans[transitions_at(lattice, t) if rich else 0]
        if not rich:
            n_candidates = _find_candidates(before, trans, best_step, L, candidates)
        step(before, trans, candidates, n_candidates, L, now, back[t])
        for y in range(L):
            now[y] += emit[t, y]
    final = best[(length - 1) & 1]
    y_best = 0
    for y in range(1, L):
        if final[y] > final[y_best]:
            y_best = y
    path_out[length - 1] = y_best
    for t in range(length - 1, 0, -1):
        path_out[t - 1] = back[t, path_out[t]]
    return final[y_best]


@inner_kernel
def _viterbi_of_pairs(lattice, L, rich, path_out):
    """Do the same if T > 2 and triples of labels have scores."""
    emit, triple = lattice.emit, lattice.triple
    trellis = lattice.trellis
    before, candidates, best_step = trellis.before, trellis.candidates, trellis.best_step
    best, back = trellis.pair_best, trellis.pair_back
    length = path_out.size
    k = transitions_at(lattice, 1) if rich else 0
    for y_prev in range(L):
        _find_best_step(triple[y_prev], L, best_step[y_prev])
        for y in range(L):
            # Added in the same order as at later positions, and as `k_best` does: equal to the last bit.
            increase = lattice.trans[k, y_prev, y] + emit[1, y]
            best[1, y_prev, y] = emit[0, y_prev] + increase
    for t in range(2, length):
        trans = lattice.trans[transitions_at(lattice, t) if rich else 0]
        for y_prev in range(L):
            for y_prev2 in range(L):
                before[y_prev2] = best[(t - 1) & 1, y_prev2, y_prev]
            n_candidates = _find_candidates(before, triple[y_prev], best_step[y_prev], L, candidates)
            now = best[t & 1, y_prev]
            step(before, triple[y_prev], candidates, n_candidates, L, now, back[t, y_prev])
            for y in range(L):
                now[y] += trans[y_prev, y] + emit[t, y]
    final = best[(length - 1) & 1]
    y_best, y_prev_best = 0, 0
    for y in range(L):
        for y_prev in range(L):
            if final[y_prev, y] > final[y_prev_best, y_best]:
                y_best, y_prev_best = y, y_prev
    path_out[length - 1], path_out[length - 2] = y_best, y_prev_best
    for t in range(length - 1, 1, -1):
        path_out[t - 2] = back[t, path_out[t - 1], path_out[t]]
    return final[y_prev_best, y_best]
