"""From value ids to feature keys: one 64-bit key for each template at each position."""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.jit import kernel

# K templates of M macros in all: seeds uint64[K], the literal text of each, hashed; macro_starts
# int64[K + 1]; shifts and views int64[M], the relative position and the view that each macro reads;
# pad_before and pad_after uint64[P], ids of CRF++'s `_B-1`, `_B-2`, … and `_B+1`, `_B+2`, …
Macros = namedtuple("Macros", "seeds macro_starts shifts views pad_before pad_after")


@kernel
def mix(key, value):
    """Fold the 64-bit `value` into `key` by the finaliser of splitmix64; two values never give one key."""
    z = key * np.uint64(0x9E3779B97F4A7C15) + value
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _read(macros, m, values, t, first, last):
    """Give the id that macro `m` reads from position `t` of the sequence `first`..`last`."""
    at = t + macros.shifts[m]
    if at < first:
        return macros.pad_before[first - at - 1]
    if at >= last:
        return macros.pad_after[at - last]
    return values[at, macros.views[m]]


@kernel
def template_keys(macros, values, starts, keys_out):
    """Expand every template at every position of every sequence of a batch.

    Parameters
    ----------
    macros : Macros.
    values : uint64[n, V], id of each view's value at each position.
    starts : int64[N + 1], where each sequence begins in `values`.
    keys_out : uint64[n, K].
    """
    for i in range(starts.size - 1):
        first, last = starts[i], starts[i + 1]
        for t in range(first, last):
            for k in range(macros.seeds.size):
                key = macros.seeds[k]
                for m in range(macros.macro_starts[k], macros.macro_starts[k + 1]):
                    key = mix(key, _read(macros, m, values, t, first, last))
                keys_out[t, k] = key


@kernel
def template_values(macros, values, starts, places, templates_out, ids_out):
    """Tell what some of the keys were made of.

    Parameters
    ----------
    places : int64[R], ascending indices into the flattened `keys_out` of `template_keys`.
    templates_out : int16[R], which template; ids_out : uint64[R, ≥ macros of it], what it read.
    """
    n_templates = macros.seeds.size
    i = 0
    for r in range(places.size):
        t, k = places[r] // n_templates, places[r] % n_templates
        while starts[i + 1] <= t:
            i += 1
        templates_out[r] = k
        begin = macros.macro_starts[k]
        for m in range(begin, macros.macro_starts[k + 1]):
            ids_out[r, m - begin] = _read(macros, m, values, t, starts[i], starts[i + 1])
