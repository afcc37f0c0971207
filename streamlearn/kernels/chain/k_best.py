"""The K best labellings of a linear chain, of the first or the second order, exactly."""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.chain.transitions import transitions_at
from streamlearn.kernels.jit import kernel

# best float64[2, L, K]: the scores of the K best labellings up to a position that end in a label, best first,
# -inf where there are fewer; back int32[T, L, K]: y_prev · K + rank of the labelling that each extends;
# places int64[L]: the number of labellings of each y_prev already used; pair_best float64[2, L, L, K],
# [y, y_prev], and pair_back int32[T, L, L, K]: the same for pairs of labels, empty in the first order.
KBest = namedtuple("KBest", "best back places pair_best pair_back")


@kernel
def new_k_best(lattice, k):
    """Allocate for the sequences that `lattice` is allocated for."""
    longest, L = lattice.emit.shape
    middles = lattice.triple.shape[0]
    return KBest(
        np.empty((2, L, k)),
        np.empty((longest, L, k), np.int32),
        np.empty(L, np.int64),
        np.empty((2, middles, middles, k)),
        np.empty((longest if middles else 0, middles, middles, k), np.int32),
    )


@kernel
def _merge(before, step, places, best_out, back_out):
    """Write the best of before[y_prev, ·] + step[y_prev]; each list before[y_prev] is sorted."""
    L, k = step.size, best_out.size
    places[:L] = 0
    for place in range(k):
        best, y_best = -np.inf, -1
        for y_prev in range(L):
            if places[y_prev] < k:
                candidate = before[y_prev, places[y_prev]] + step[y_prev]
                if candidate > best:
                    best, y_best = candidate, y_prev
        best_out[place] = best
        if y_best < 0:
            best_out[place:] = -np.inf
            return
        back_out[place] = y_best * k + places[y_best]
        places[y_best] += 1


@kernel
def k_best(lattice, length, n_labels, rich, search, paths_out, scores_out):
    """Find the K labellings of the highest scores, best first.

    Labellings with equal scores are ordered by their label at the last position where they differ, lower
    first, so that the first of all is the one that `streamlearn.kernels.chain.viterbi.viterbi` finds.

    Parameters
    ----------
    lattice, rich : as for `viterbi`; -inf in the scores forbids.
    search : KBest.
    paths_out : int32[K, T], T ≥ 1; scores_out : float64[K]. If fewer than K labellings are allowed, the
        remaining scores are -inf, and their paths are not written.
    """
    if lattice.triple.size and length > 2:
        _k_best_of_pairs(lattice, length, n_labels, rich, search, paths_out, scores_out)
        return
    L, k = n_labels, scores_out.size
    best, back = search.best, search.back
    best[0, :L] = -np.inf
    for y in range(L):
        best[0, y, 0] = lattice.emit[0, y]
    for t in range(1, length):
        before, now = best[(t - 1) & 1], best[t & 1]
        trans = lattice.trans[transitions_at(lattice, t) if rich else 0]
        for y in range(L):
            _merge(before, trans[:L, y], search.places, now[y], back[t, y])
            for place in range(k):
                now[y, place] += lattice.emit[t, y]
    # One more step, to a single last label, sorts labellings that end in different ones.
    ends = np.empty(k, np.int32)
    _merge(best[(length - 1) & 1], np.zeros(L), search.places, scores_out, ends)
    for i in range(k):
        if scores_out[i] == -np.inf:
            return
        at = ends[i]
        for t in range(length - 1, -1, -1):
            paths_out[i, t] = at // k
            if t:
                at = back[t, at // k, at % k]


@kernel
def _k_best_of_pairs(lattice, length, L, rich, search, paths_out, scores_out):
    """Do the same if T > 2 and triples of labels have scores: one step for each label in the middle."""
    emit, triple, places, k = lattice.emit, lattice.triple, search.places, scores_out.size
    best, back = search.pair_best, search.pair_back
    best[1, :L, :L] = -np.inf
    for t in range(1, length):
        before, now = best[(t - 1) & 1], best[t & 1]
        trans = lattice.trans[transitions_at(lattice, t) if rich else 0]
        for y in range(L):
            for y_prev in range(L):
                if t == 1:
                    now[y, y_prev, 0] = emit[0, y_prev]
                else:
                    step = triple[y_prev, :L, y]
                    _merge(before[y_prev], step, places, now[y, y_prev], back[t, y, y_prev])
                for place in range(k):
                    now[y, y_prev, place] += trans[y_prev, y] + emit[t, y]
    # Two more steps, over the last label but one and over the last, sort labellings with different ends.
    last, ends, extended = search.best[0], np.empty(k, np.int32), search.back[0]
    for y in range(L):
        _merge(best[(length - 1) & 1, y], np.zeros(L), places, last[y], extended[y])
    _merge(last, np.zeros(L), places, scores_out, ends)
    for i in range(k):
        if scores_out[i] == -np.inf:
            return
        y = ends[i] // k
        at = extended[y, ends[i] % k]
        for t in range(length - 1, -1, -1):
            paths_out[i, t] = y
            if t > 1:
                at, y = back[t, y, at // k, at % k], at // k
            elif t:
                y = at // k
