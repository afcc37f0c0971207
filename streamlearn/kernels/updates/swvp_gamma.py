"""SETGAMMA of SWVP: the weight of each mixed assignment in an update (Dror & Reichart 2016, 4 and 5).

A new strategy is a kernel that turns margins into weights ≥ 0, a constant and a branch in `_weigh`, and a
name in `streamlearn.choices` and `streamlearn.learners.swvp`. `set_gamma` enforces the conditions on weights.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.jit import kernel

WEIGHTED_MARGIN, WEIGHTED_MARGIN_RANK = 0, 1


class Gamma(NamedTuple):
    """How mixed assignments are weighted.

    Attributes
    ----------
    weighting : one of the constants above.
    beta : its β ≥ 0.
    aggressive : whether only violations count.
    conditioned : whether condition (2) is enforced.
    """

    weighting: int
    beta: float
    aggressive: bool
    conditioned: bool


@kernel
def set_gamma(margins, gamma, gamma_out):
    """Weigh mixed assignments by their margins s_J = w · (Φ(x, y) − Φ(x, m^J)); s_J ≤ 0 is a violation.

    The weights sum to 1 and, where `gamma.conditioned`, Σ γ_J s_J ≤ 0 as condition (2) requires: while it
    does not hold, the non-violation with the largest margin is left out, as the paper's section 5 suggests.

    Parameters
    ----------
    margins : float64[n].
    gamma_out : float64[n]; 0 for what the update leaves out.

    Returns
    -------
    Whether such weights exist: not if there is no violation, all margins are 0, or no violation has a weight
    above 0. The update has to back off then.
    """
    used, sizes = np.empty(margins.size, np.int64), np.empty(margins.size)
    n, violations, most = 0, 0, 0.0
    for j in range(margins.size):
        violations += margins[j] <= 0.0
        if margins[j] <= 0.0 or not gamma.aggressive:
            used[n], sizes[n] = j, abs(margins[j])
            most = max(most, sizes[n])
            n += 1
    if violations == 0 or most == 0.0:
        return False
    weights = np.empty(n)
    _weigh(gamma.weighting, sizes[:n], gamma.beta, weights)
    for j in range(margins.size):
        gamma_out[j] = 0.0
    for i in range(n):
        gamma_out[used[i]] = weights[i]
    if gamma.conditioned and not gamma.aggressive:
        _drop(margins, gamma_out)
    return _normalise(gamma_out)


@kernel
def _normalise(gamma_out):
    """Make weights sum to 1; return False if they are all 0."""
    total = 0.0
    for j in range(gamma_out.size):
        total += gamma_out[j]
    if total == 0.0:
        return False
    for j in range(gamma_out.size):
        gamma_out[j] /= total
    return True


@kernel
def _weigh(weighting, sizes, beta, weights_out):
    """Compute the weights of n ≥ 1 mixed assignments from |s_J|, the largest of which is above 0."""
    if weighting == WEIGHTED_MARGIN:
        weighted_margin(sizes, beta, weights_out)
    else:
        weighted_margin_rank(sizes, beta, weights_out)


@kernel
def weighted_margin(sizes, beta, weights_out):
    """Set γ_J ∝ |s_J|^β, relative to the largest so that no power overflows."""
    most = 0.0
    for j in range(sizes.size):
        most = max(most, sizes[j])
    for j in range(sizes.size):
        weights_out[j] = (sizes[j] / most) ** beta


@kernel
def weighted_margin_rank(sizes, beta, weights_out):
    """Set γ_J ∝ ((n − r_J) / n)^β, where the largest |s_J| has rank r_J = 0; ties share the mean rank."""
    n = sizes.size
    for j in range(n):
        larger, equal = 0, 0
        for i in range(n):
            larger += sizes[i] > sizes[j]
            equal += sizes[i] == sizes[j]
        rank = larger + 0.5 * (equal - 1)
        weights_out[j] = ((n - rank) / n) ** beta


@kernel
def _drop(margins, gamma_out):
    """Leave out non-violations until the weighted margins sum to 0 or less.

    The one with the largest margin is left out first; of equal margins, the first one.
    """
    while True:
        total = 0.0
        largest = -1
        for j in range(margins.size):
            total += gamma_out[j] * margins[j]
            if gamma_out[j] > 0.0 and (largest < 0 or margins[j] > margins[largest]):
                largest = j
        if not total > 0.0:
            return
        gamma_out[largest] = 0.0
