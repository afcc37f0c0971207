"""Averages of all weight vectors so far, kept by one more plane: predictions are made with w − u / due.

Plane 0 of the weights is w; plane 1 is u = Σ due(s) · Δ over all changes Δ of w, where s is the number of
sequences learned before the one that makes the change. A change at s is in the weights w_{s+1}, w_{s+2}, …
after each later sequence, so that once n sequences are learned w − u / due(n) is

- with due(s) = s: their average (1/n) Σ_{t≤n} w_t (the averaged parameters γ of Collins 2002),
  since it weighs a change by (n − s) / n;
- with due(s) = ρ^−s: the fading average E_n = (1 − ρ) Σ_{t≤n} ρ^{n−t} w_t, which is E ← ρ E + (1 − ρ) w
  after each sequence, from E = 0, since it weighs a change by 1 − ρ^{n−s}.

A change costs one addition, and features that are idle cost nothing, for either average.

ρ^−s = 2^(s / half-life) would overflow, so that u is kept as a multiple of 2^base, and scaled down, exactly,
whenever the base moves on. The base depends on the count of sequences alone: neither the cut into batches
nor a restart changes a bit.
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
def due(averaging, count):
    """Give the factor of a change in plane 1, where `count` sequences were learned before; 0 for none."""
    if averaging.kind == AVERAGE_ALL:
        return float(count)
    if averaging.kind == AVERAGE_EXPONENTIAL:
        # In two factors, of which one is exact, so that precision does not suffer from a large count.
        whole, part = count // averaging.half_life, count % averaging.half_life / averaging.half_life
        return 2.0 ** (whole % _STRIDE) * 2.0**part
    return 0.0


@inner_kernel
def share(averaging, count):
    """Give what is taken of plane 1 from plane 0 for predictions, once `count` sequences are learned."""
    owed = due(averaging, count)
    return 1.0 / owed if owed else 0.0


@inner_kernel
def _base(averaging, count):
    return count // averaging.half_life // _STRIDE * _STRIDE


@inner_kernel
def _scale_plane(weights, used, factor):
    """Multiply plane 1 of the rows in use; by loops, which compile in a fifth of the time of slices."""
    for row in range(used):
        for slot in range(weights.shape[2]):
            for y in range(weights.shape[3]):
                weights[row, 1, slot, y] *= factor


@inner_kernel
def rescale(averaging, count, used, weights):
    """Move plane 1 to the base of `count` learned sequences; to be called after each of them.

    `used` is how many rows of nodes and of edges are in use.
    """
    if averaging.kind == AVERAGE_EXPONENTIAL:
        moved = _base(averaging, count) - _base(averaging, count - 1)
        if moved:
            _scale_plane(weights.node, used[0], 2.0**-moved)
            _scale_plane(weights.edge, used[1], 2.0**-moved)
            _scale_plane(weights.triple, weights.triple.shape[0], 2.0**-moved)
