"""Marginals of a first-order linear-chain CRF.

P(y | x) = exp(score(x, y)) / Z(x), with the score of `streamlearn.kernels.chain.lattice`.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.chain.exponential import exponentials
from streamlearn.kernels.jit import inner_kernel, kernel

# node float64[T, L]: P(y_t), before that the scaled forward values; edge float64[T or 1, L, L]:
# P(y_{t-1}, y_t), summed over t into index 0 where no edge feature depends on the position; weight, turned
# float64[T or 1, L, L]: exponentials of trans, and their transposes; local float64[T, L]: exponentials of
# emit, 1 where they are part of `weight`; beta float64[T, L]: backward values. Before these are computed,
# turned and beta are scratch arrays of the exponentials.
Marginals = namedtuple("Marginals", "node edge weight turned local beta")

# Exponentials are 0 (forbidden) or at least this, and forward and backward values, which sum to 1, are 0 or
# at least its square: no product of two exponentials and one value underflows.
SMALL = 1e-75
LOG_SMALL = np.log(SMALL)


@kernel
def new_marginals(lattice):
    """Allocate for the sequences that `lattice` is allocated for."""
    emit, trans = lattice.emit, lattice.trans
    return Marginals(
        np.empty_like(emit),
        np.empty_like(trans),
        np.empty_like(trans),
        np.empty_like(trans),
        np.empty_like(emit),
        np.empty_like(emit),
    )


@inner_kernel
def _subtract_top(trans, emit, L, out):
    """Write trans + emit - top.

    Returns
    -------
    top, their maximum; NaN where an exponential would be too small.
    """
    top, too_small = -np.inf, False
    for y_prev in range(L):
        for y in range(L):
            top = max(top, trans[y_prev, y] + emit[y])
    for y_prev in range(L):
        for y in range(L):
            x = trans[y_prev, y] + emit[y] - top
            too_small |= -np.inf < x < LOG_SMALL
            out[y_prev, y] = x
    return np.nan if too_small else top


@inner_kernel
def _exponentiate_steps(trans, emit, first, last, L, weight, scratch):
    """Write exp(trans + emit - their maximum) at each position from `first` to before `last`.

    `scratch` is shaped like `weight`.

    Returns
    -------
    The sum of the maxima; NaN where something is too small.
    """
    total, size = 0.0, weight[0].size
    for t in range(first, last):
        total += _subtract_top(trans[t], emit[t], L, weight[t])
    begin, end = first * size, last * size
    exponentials(weight.reshape(weight.size)[begin:end], scratch.reshape(scratch.size)[begin:end])
    return total


@inner_kernel
def _exponentiate_all(emit, length, L, local, scratch):
    """Write exp(emit - its maximum at each position); `scratch` is shaped like `local`.

    Returns
    -------
    The sum of the maxima; NaN where something is too small.
    """
    total, too_small, n = 0.0, False, length * local.shape[1]
    for t in range(length):
        top = emit[t, 0]
        for y in range(1, L):
            top = max(top, emit[t, y])
        for y in range(L):
            x = emit[t, y] - top
            too_small |= -np.inf < x < LOG_SMALL
            local[t, y] = x
        total += top
    exponentials(local.reshape(local.size)[:n], scratch.reshape(scratch.size)[:n])
    return np.nan if too_small else total


@inner_kernel
def exponentiate(lattice, length, L, rich, weight, out):
    """Write the exponentials of emit to `out.local`, and those of trans (plus emit, if rich) to `weight`.

    Returns
    -------
    The sum of what was subtracted from the exponents; NaN where something is too small.
    """
    trans, emit, beta, turned = lattice.trans, lattice.emit, out.beta, out.turned
    total = _exponentiate_all(emit, 1 if rich else length, L, out.local, beta)
    if rich:
        return total + _exponentiate_steps(trans, emit, 1, length, L, weight, turned)
    if length > 1:
        # Transitions alone: the exponentials of emit are in `local`.
        beta[0, :L] = 0.0
        total += (length - 1) * _exponentiate_steps(trans, beta, 0, 1, L, weight, turned)
    return total


@inner_kernel
def normalize(values, rows, L):
    """Divide `values` float64[·, ·], of which the first `rows` rows and `L` columns count, by their sum.

    Returns
    -------
    The sum; NaN where a value is too small.
    """
    total = 0.0
    for i in range(rows):
        for y in range(L):
            total += values[i, y]
    scale = 1.0 / total
    lost = False
    for i in range(rows):
        for y in range(L):
            values[i, y] *= scale
            lost |= 0.0 < values[i, y] < SMALL * SMALL
    return np.nan if lost else total


@inner_kernel
def transpose(weight, first, last, L, turned):
    """Write the transposes of the matrices from `first` to before `last` to `turned`."""
    for t in range(first, last):
        for y_prev in range(L):
            for y in range(L):
                turned[t, y, y_prev] = weight[t, y_prev, y]


@inner_kernel
def _forward(lattice, length, L, rich, out):
    """Fill `out.node` with forward values that sum to 1 at each position.

    Returns
    -------
    log Z; NaN where numbers become too small.
    """
    node, local, weight = out.node, out.local, out.weight
    log_z = exponentiate(lattice, length, L, rich, weight, out)
    if rich:
        local[1:length, :L] = 1.0
        transpose(weight, 1, length, L, out.turned)
    elif length > 1:
        transpose(weight, 0, 1, L, out.turned)
    for t in range(length):
        if t == 0:
            for y in range(L):
                node[0, y] = local[0, y]
        else:
            before, now = node[t - 1], node[t]
            for y in range(L):
                now[y] = 0.0
            shared = weight[t if rich else 0]
            for y_prev in range(L):
                for y in range(L):
                    now[y] += before[y_prev] * shared[y_prev, y]
            if not rich:
                for y in range(L):
                    now[y] *= local[t, y]
        log_z += np.log(normalize(node[t : t + 1], 1, L))
        if not log_z > -np.inf:
            return log_z
    return log_z


@inner_kernel
def _backward(length, L, rich, out):
    """Turn forward values into marginals.

    Returns
    -------
    Whether all numbers were large enough.
    """
    node, edge, local, beta = out.node, out.edge, out.local, out.beta
    if not rich:
        edge[0, :L, :L] = 0.0
    beta[length - 1, :L] = 1.0
    for t in range(length - 1, 0, -1):
        k = t if rich else 0
        weight, turned, joint = out.weight[k], out.turned[k], edge[k]
        before, now, alpha = beta[t - 1], beta[t], node[t - 1]
        for y in range(L):
            now[y] *= local[t, y]
            before[y] = 0.0
        for y in range(L):
            for y_prev in range(L):
                before[y_prev] += turned[y, y_prev] * now[y]
        both = 0.0
        for y_prev in range(L):
            both += alpha[y_prev] * before[y_prev]
        # Products down to SMALL ** 6 do underflow, but they are negligible in a sum that is larger than this.
        if not both > SMALL**3:
            return False
        for y_prev in range(L):
            share = alpha[y_prev] / both
            alpha[y_prev] = share * before[y_prev]
            if rich:
                for y in range(L):
                    joint[y_prev, y] = share * weight[y_prev, y] * now[y]
            else:
                for y in range(L):
                    joint[y_prev, y] += share * now[y]
        if np.isnan(normalize(beta[t - 1 : t], 1, L)):
            return False
    if not rich:
        for y_prev in range(L):
            for y in range(L):
                edge[0, y_prev, y] *= out.weight[0, y_prev, y]
    return True


@kernel
def log_sum(values):
    """Return log Σ exp(values), -inf if all are."""
    top = values.max()
    return top if top == -np.inf else top + np.log(np.exp(values - top).sum())


@kernel
def _log_marginals(lattice, length, L, rich, out):
    """Do the same in the log domain throughout: slow, and correct however far apart the scores are."""
    emit, trans = lattice.emit[:length, :L], lattice.trans
    alpha, beta = out.local, out.beta
    alpha[0, :L] = emit[0]
    for t in range(1, length):
        for y in range(L):
            alpha[t, y] = emit[t, y] + log_sum(alpha[t - 1, :L] + trans[t if rich else 0, :L, y])
    log_z = log_sum(alpha[length - 1, :L])
    if log_z == -np.inf:
        return log_z
    beta[length - 1, :L] = 0.0
    for t in range(length - 1, 0, -1):
        for y in range(L):
            beta[t - 1, y] = log_sum(trans[t if rich else 0, y, :L] + emit[t] + beta[t, :L])
    if not rich:
        out.edge[0, :L, :L] = 0.0
    for t in range(length):
        for y in range(L):
            out.node[t, y] = np.exp(alpha[t, y] + beta[t, y] - log_z)
        for y_prev in range(L if t else 0):
            k = t if rich else 0
            for y in range(L):
                p = np.exp(alpha[t - 1, y_prev] + trans[k, y_prev, y] + emit[t, y] + beta[t, y] - log_z)
                out.edge[k, y_prev, y] = p if rich else out.edge[k, y_prev, y] + p
    return log_z


@kernel
def marginals(lattice, length, n_labels, rich, out):
    """Fill `out.node` and `out.edge` with marginal probabilities.

    Parameters
    ----------
    lattice : with `emit` and `trans` scored; -inf forbids.
    rich : whether `trans` depends on the position.
    out : Marginals.

    Returns
    -------
    log Z; -inf where no labelling is possible, and then the marginals are undefined.

    Notes
    -----
    The scaled recursions of Rabiner 1989 (section V.A), with the maxima subtracted before exponentiating;
    transitions that all positions share are exponentiated once per sequence. Where scores are too far apart
    for this, the log domain is used.
    """
    log_z = _forward(lattice, length, n_labels, rich, out)
    if log_z == -np.inf:
        return log_z
    if np.isnan(log_z) or not _backward(length, n_labels, rich, out):
        log_z = _log_marginals(lattice, length, n_labels, rich, out)
    return log_z
