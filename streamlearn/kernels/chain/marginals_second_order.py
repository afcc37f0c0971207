"""Marginals of a linear-chain CRF of the second order, whose states are pairs of labels; and of either order.

P(y | x) = exp(score(x, y)) / Z(x), with the score of `streamlearn.kernels.chain.lattice`.

As in `streamlearn.kernels.chain.viterbi`, a step with a fixed label in the middle is one of the first order.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.chain.exponential import exponentials
from streamlearn.kernels.chain.marginals import (
    LOG_SMALL,
    SMALL,
    exponentiate,
    log_sum,
    marginals,
    new_marginals,
    normalize,
    transpose,
)
from streamlearn.kernels.jit import inner_kernel, kernel

# first: Marginals, whose node and edge hold the results in either order; triple float64[L or 0, L, L],
# [y_{t-1}, y_{t-2}, y_t]: P of each triple, summed over t. The others are working arrays: weight
# float64[2, L, L, L]: exponentials of the lattice's triples in 0, and their transposes for each label in the
# middle in 1; step, alpha float64[T, L, L], [y_prev, y]: exponentials of trans + emit, and forward values,
# then P(y_{t-1}, y_t); beta float64[2, L, L]: backward values, [y_prev, y] in 0, [y, y_prev] in 1. They are
# few, since each array costs every call of a kernel a little, in the first order too.
Expected = namedtuple("Expected", "first triple weight step alpha beta")


@kernel
def new_expected(lattice):
    """Allocate for the sequences that `lattice` is allocated for."""
    L = lattice.triple.shape[0]
    longest = lattice.emit.shape[0] if L else 0
    return Expected(
        new_marginals(lattice),
        np.empty_like(lattice.triple),
        np.empty((2, L, L, L)),
        np.empty((longest, L, L)),
        np.empty((longest, L, L)),
        np.empty((2, L, L)),
    )


@kernel
def expect(lattice, length, n_labels, rich, out):
    """Fill `out.first.node`, `out.first.edge` and `out.triple` with marginal probabilities, in either order.

    Parameters
    ----------
    lattice, rich : as for `streamlearn.kernels.chain.marginals.marginals`; -inf forbids.
    out : Expected.

    Returns
    -------
    log Z; -inf where no labelling is possible, and then the marginals are undefined.
    """
    if lattice.triple.size:
        out.triple[:] = 0.0
    if not lattice.triple.size or length < 3:
        return marginals(lattice, length, n_labels, rich, out.first)
    log_z = _forward(lattice, length, n_labels, rich, out)
    if log_z == -np.inf:
        return log_z
    if np.isnan(log_z) or not _backward(length, n_labels, out):
        log_z = _log_expect(lattice, length, n_labels, rich, out)
    _sum_up(length, n_labels, rich, out)
    return log_z


@inner_kernel
def _exponentiate_triples(triple, L, weight, turned):
    """Write exp(triple - top) and its transposes.

    Returns
    -------
    top, their maximum; NaN where something is too small.
    """
    top, too_small = -np.inf, False
    for y_prev in range(L):
        for y_prev2 in range(L):
            for y in range(L):
                top = max(top, triple[y_prev, y_prev2, y])
    for y_prev in range(L):
        for y_prev2 in range(L):
            for y in range(L):
                x = triple[y_prev, y_prev2, y] - top
                too_small |= -np.inf < x < LOG_SMALL
                weight[y_prev, y_prev2, y] = x
    exponentials(weight.reshape(weight.size), turned.reshape(turned.size))
    transpose(weight, 0, L, L, turned)
    return np.nan if too_small else top


@inner_kernel
def _exponentiate_steps(lattice, length, L, rich, out):
    """Fill `out.step`, and `out.first.local[0]` for the first position.

    Returns
    -------
    The sum of what was subtracted from the exponents; NaN where something is too small.
    """
    local, weight = out.first.local, out.first.weight
    total = exponentiate(lattice, length, L, rich, out.step if rich else weight, out.first)
    if rich:
        return total
    for t in range(1, length):
        for y_prev in range(L):
            for y in range(L):
                out.step[t, y_prev, y] = weight[0, y_prev, y] * local[t, y]
                if 0.0 < out.step[t, y_prev, y] < SMALL:
                    return np.nan
    return total


@inner_kernel
def _forward(lattice, length, L, rich, out):
    """Fill `out.alpha` with forward values that sum to 1 at each position.

    Returns
    -------
    log Z; NaN where numbers become too small.
    """
    log_z = (length - 2) * _exponentiate_triples(lattice.triple, L, out.weight[0], out.weight[1])
    log_z += _exponentiate_steps(lattice, length, L, rich, out)
    if not log_z > -np.inf:
        return log_z
    weight = out.weight[0]
    for t in range(1, length):
        for y_prev in range(L):
            now = out.alpha[t, y_prev]
            if t == 1:
                now[:L] = out.first.local[0, y_prev]
            else:
                now[:L] = 0.0
                for y_prev2 in range(L):
                    before = out.alpha[t - 1, y_prev2, y_prev]
                    for y in range(L):
                        now[y] += before * weight[y_prev, y_prev2, y]
            for y in range(L):
                now[y] *= out.step[t, y_prev, y]
        log_z += np.log(normalize(out.alpha[t], L, L))
        if not log_z > -np.inf:
            return log_z
    return log_z


@inner_kernel
def _backward(length, L, out):
    """Turn forward values into P(y_{t-1}, y_t), and sum the probabilities of triples.

    Returns
    -------
    Whether all numbers were large enough.
    """
    weight, turned = out.weight[0], out.weight[1]
    now, before = out.beta[0], out.beta[1]
    now[:L, :L] = 1.0
    for t in range(length - 1, 1, -1):
        alpha = out.alpha[t - 1]
        both = 0.0
        for y_prev in range(L):
            for y in range(L):
                now[y_prev, y] *= out.step[t, y_prev, y]
            before[y_prev, :L] = 0.0
            for y in range(L):
                for y_prev2 in range(L):
                    before[y_prev, y_prev2] += turned[y_prev, y, y_prev2] * now[y_prev, y]
            for y_prev2 in range(L):
                both += alpha[y_prev2, y_prev] * before[y_prev, y_prev2]
        # Products down to SMALL ** 6 do underflow, but they are negligible in a sum that is larger than this.
        if not both > SMALL**3:
            return False
        for y_prev in range(L):
            for y_prev2 in range(L):
                share = alpha[y_prev2, y_prev] / both
                alpha[y_prev2, y_prev] = share * before[y_prev, y_prev2]
                for y in range(L):
                    out.triple[y_prev, y_prev2, y] += share * now[y_prev, y]
        if np.isnan(normalize(before, L, L)):
            return False
        for y_prev2 in range(L):
            for y_prev in range(L):
                now[y_prev2, y_prev] = before[y_prev, y_prev2]
    for y_prev in range(L):
        for y_prev2 in range(L):
            for y in range(L):
                out.triple[y_prev, y_prev2, y] *= weight[y_prev, y_prev2, y]
    return True


@kernel
def _log_expect(lattice, length, L, rich, out):
    """Do the same in the log domain throughout: slow, and correct however far apart the scores are."""
    emit, trans, triple = lattice.emit, lattice.trans, lattice.triple
    alpha, now, before = out.alpha, out.beta[0], out.beta[1]
    for t in range(1, length):
        for y_prev in range(L):
            for y in range(L):
                reached = emit[0, y_prev]
                if t > 1:
                    reached = log_sum(alpha[t - 1, :L, y_prev] + triple[y_prev, :L, y])
                alpha[t, y_prev, y] = reached + trans[t if rich else 0, y_prev, y] + emit[t, y]
    log_z = log_sum(alpha[length - 1, :L, :L].copy().ravel())
    if log_z == -np.inf:
        return log_z
    out.triple[:] = 0.0
    now[:L, :L] = 0.0
    for t in range(length - 1, 0, -1):
        for y_prev in range(L):
            after = trans[t if rich else 0, y_prev, :L] + emit[t, :L] + now[y_prev, :L]
            for y_prev2 in range(L if t > 1 else 0):
                steps = triple[y_prev, y_prev2, :L] + after
                before[y_prev2, y_prev] = log_sum(steps)
                out.triple[y_prev, y_prev2, :L] += np.exp(alpha[t - 1, y_prev2, y_prev] + steps - log_z)
        for y_prev in range(L):
            for y in range(L):
                alpha[t, y_prev, y] = np.exp(alpha[t, y_prev, y] + now[y_prev, y] - log_z)
        now[:L, :L] = before[:L, :L]
    return log_z


@inner_kernel
def _sum_up(length, L, rich, out):
    """Turn P(y_{t-1}, y_t) into the marginals of the first order."""
    pairs, node, edge = out.alpha, out.first.node, out.first.edge
    node[:length, :L] = 0.0
    if not rich:
        edge[0, :L, :L] = 0.0
    for t in range(1, length):
        for y_prev in range(L):
            for y in range(L):
                p = pairs[t, y_prev, y]
                node[t, y] += p
                if t == 1:
                    node[0, y_prev] += p
                if rich:
                    edge[t, y_prev, y] = p
                else:
                    edge[0, y_prev, y] += p
