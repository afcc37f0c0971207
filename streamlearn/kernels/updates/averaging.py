"""The average of all weight vectors so far, computed lazily with one additional plane of the weights.

Plane 0 of the weights is w; plane 1 is u = Σ f(s) · Δ over all changes Δ of w, where s is the number of
sequences learned before the one that makes the change, and f is `average_factor`. A change at s is part of
the weights w_{s+1}, w_{s+2}, … after each later sequence. After n sequences, w − u / f(n) is therefore

- with f(s) = s: their average (1/n) Σ_{t≤n} w_t (the averaged parameters γ of Collins 2002), since a change
  has the weight (n − s) / n;
- with f(s) = ρ^−s: the exponential moving average E_n = (1 − ρ) Σ_{t≤n} ρ^{n−t} w_t, which is
  E ← ρ E + (1 − ρ) w after each sequence, from E = 0, since a change has the weight 1 − ρ^{n−s}.

With either average a change costs one addition, and features that are not active cost nothing.

ρ^−s = 2^(s / half-life) would overflow. u is therefore stored divided by 2^base, and divided further, which
is exact, whenever the base grows. The base depends only on the number of sequences: neither how the stream
is cut into batches nor a restart changes a bit.
"""

from typing import NamedTuple

from streamlearn.kernels.jit import inner_kernel

AVERAGE_NONE, AVERAGE_ALL, AVERAGE_EXPONENTIAL = 0, 1, 2


class Averaging(NamedTuple):
    """How weights are averaged for predictions.

    Attributes
    ----------
    kind : one of the constants above.
    half_life : of the exponential average, in sequences.
    """

    kind: int
    half_life: float


# Half-lives from one base to the next: 2^512 times a weight is far from overflow.
_STRIDE = 512.0


@inner_kernel
def average_factor(averaging, count):
    """Return f(count): how many times a change of w is added to plane 1; 0 where there is no average."""
    if averaging.kind == AVERAGE_ALL:
        return float(count)
    if averaging.kind == AVERAGE_EXPONENTIAL:
        # In two factors, of which one is exact, so that precision does not suffer from a large count.
        whole, part = count // averaging.half_life, count % averaging.half_life / averaging.half_life
        return 2.0 ** (whole % _STRIDE) * 2.0**part
    return 0.0


@inner_kernel
def average_share(averaging: Averaging, count: int) -> float:
    """Return the multiple of plane 1 that predictions subtract from plane 0 after `count` sequences."""
    factor = average_factor(averaging, count)
    return 1.0 / factor if factor else 0.0


@inner_kernel
def _base(averaging, count):
    return count // averaging.half_life // _STRIDE * _STRIDE


@inner_kernel
def _scale_plane(weights, used, factor):
    """Multiply plane 1 of the rows in use, in loops: they compile five times as fast as slices.

    Rows that are lists of cells are not in `weights`.
    """
    for row in range(min(used, weights.shape[0])):
        for slot in range(weights.shape[2]):
            for y in range(weights.shape[3]):
                weights[row, 1, slot, y] *= factor


@inner_kernel
def rescale(averaging, count, used, weights):
    """Convert plane 1 to the base for `count` learned sequences; to be called after each of them.

    `used` holds the number of rows of nodes and of edges in use.
    """
    if averaging.kind == AVERAGE_EXPONENTIAL:
        growth = _base(averaging, count) - _base(averaging, count - 1)
        if growth:
            _scale_plane(weights.node, used[0], 2.0**-growth)
            _scale_plane(weights.edge, used[1], 2.0**-growth)
            _scale_plane(weights.triple, weights.triple.shape[0], 2.0**-growth)
            for c in range(weights.cells.counts[0]):
                weights.cells.values[c, 1] *= 2.0**-growth
