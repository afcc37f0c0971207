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
    """Mix the 64-bit `value` into `key` by the finaliser of splitmix64: one-to-one in `value`."""
    z = key * np.uint64(0x9E3779B97F4A7C15) + value
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def sequence_keys(macros, values, first, last, keys_out):
    """Expand every template at every position of one sequence.

    The order is template by template and macro by macro, so that the inner loop is one shift of one view over
    all positions: without a branch it is vectorised (a quarter of the time).

    Parameters
    ----------
    macros : Macros.
    values : uint64[n, V], id of each view's value at each position of the batch.
    first, last : the positions of the sequence.
    keys_out : uint64[K, last - first].
    """
    length = last - first
    for k in range(macros.seeds.size):
        keys = keys_out[k]
        keys[:] = macros.seeds[k]
        for m in range(macros.macro_starts[k], macros.macro_starts[k + 1]):
            shift, view = macros.shifts[m], macros.views[m]
            # Positions at which the macro reads inside of the sequence.
            begin, end = min(max(-shift, 0), length), max(min(length - shift, length), 0)
            for t in range(begin):
                keys[t] = mix(keys[t], macros.pad_before[-shift - t - 1])
            for t in range(begin, end):
                keys[t] = mix(keys[t], values[first + t + shift, view])
            for t in range(end, length):
                keys[t] = mix(keys[t], macros.pad_after[t + shift - length])


@kernel
def read_values(macros, k, values, t, first, last, ids_out):
    """Write what template `k` read at position `t` of the sequence `first`..`last`, one id for each macro."""
    begin = macros.macro_starts[k]
    for m in range(begin, macros.macro_starts[k + 1]):
        at = t + macros.shifts[m]
        if at < first:
            ids_out[m - begin] = macros.pad_before[first - at - 1]
        elif at >= last:
            ids_out[m - begin] = macros.pad_after[at - last]
        else:
            ids_out[m - begin] = values[at, macros.views[m]]
