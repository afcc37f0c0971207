"""The best labelling of a linear chain, of the first or the second order.

In the second order a state is a pair of labels. For each label in the middle, a step is one of the first
order, from the label before it to the label after it.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.jit import inner_kernel, kernel

# Scores are of the best labelling up to a position that ends in a label, or in a pair of labels. best
# float64[2, L], back int32[T, L]; pair_best float64[2, L, L], [y_prev, y], and pair_back int16[T, L, L],
# [y_prev, y]: empty in the first order; reach float64[1 or L, L]: the best step from a label, for each label
# in the middle; before float64[L] and rivals int32[L]: room for one step.
Trellis = namedtuple("Trellis", "best back pair_best pair_back reach before rivals")


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
def _find_reach(trans, L, reach_out):
    """Find the best transition from each label."""
    for y_prev in range(L):
        reach_out[y_prev] = trans[y_prev, 0]
        for y in range(1, L):
            reach_out[y_prev] = max(reach_out[y_prev], trans[y_prev, y])


@inner_kernel
def _find_rivals(before, trans, reach, n_labels, rivals_out):
    """Find the previous labels that can win before any label, in ascending order; give how many.

    Let b be the best previous label. One whose own score plus the best of its transitions (`reach`) is
    below min_y before[b] + trans[b, y] loses to b before every y: exactly so, since rounding is monotone.
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
        if before[y_prev] + reach[y_prev] >= least:
            rivals_out[found] = y_prev
            found += 1
    return found


@inner_kernel
def step(before, trans, rivals, n_rivals, L, now_out, back_out):
    """Find the best previous label before each label, and the score by then; the first of equal rivals."""
    for y in range(L):
        now_out[y] = before[rivals[0]] + trans[rivals[0], y]
        back_out[y] = rivals[0]
    for i in range(1, n_rivals):
        y_prev = rivals[i]
        for y in range(L):
            candidate = before[y_prev] + trans[y_prev, y]
            if candidate > now_out[y]:
                now_out[y] = candidate
                back_out[y] = y_prev


@inner_kernel
def viterbi(lattice, n_labels, rich, path_out):
    """Find the labelling of the highest score; ties go to the lower label, decided from the last position.

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
    best, back, rivals = lattice.trellis.best, lattice.trellis.back, lattice.trellis.rivals
    reach = lattice.trellis.reach[0]
    length = path_out.size
    n_rivals = L
    for y in range(L):
        best[0, y] = emit[0, y]
        rivals[y] = y
    _find_reach(lattice.trans[0], L, reach)
    for t in range(1, length):
        before, now = best[(t - 1) & 1], best[t & 1]
        trans = lattice.trans[t if rich else 0]
        if not rich:
            n_rivals = _find_rivals(before, trans, reach, L, rivals)
        step(before, trans, rivals, n_rivals, L, now, back[t])
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
    """Do the same where T > 2 and triples of labels have scores."""
    emit, triple = lattice.emit, lattice.triple
    before, rivals, reach = lattice.trellis.before, lattice.trellis.rivals, lattice.trellis.reach
    best, back = lattice.trellis.pair_best, lattice.trellis.pair_back
    length = path_out.size
    for y_prev in range(L):
        _find_reach(triple[y_prev], L, reach[y_prev])
        for y in range(L):
            # Added as at every later position, and as `k_best` does: alike to the last bit.
            step_up = lattice.trans[1 if rich else 0, y_prev, y] + emit[1, y]
            best[1, y_prev, y] = emit[0, y_prev] + step_up
    for t in range(2, length):
        trans = lattice.trans[t if rich else 0]
        for y_prev in range(L):
            for y_prev2 in range(L):
                before[y_prev2] = best[(t - 1) & 1, y_prev2, y_prev]
            n_rivals = _find_rivals(before, triple[y_prev], reach[y_prev], L, rivals)
            now = best[t & 1, y_prev]
            step(before, triple[y_prev], rivals, n_rivals, L, now, back[t, y_prev])
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
