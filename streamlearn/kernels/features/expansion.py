"""From the value ids of a batch to the rows of its features: keys and lookups, sequence after sequence.

There is one call per batch, so that the learning thread takes the interpreter lock once, and the keys of a
sequence are looked up while they are in the first-level cache.
"""

import numpy as np

from streamlearn.kernels.arrays import Int16s, Int32s, Int64s, Uint64s
from streamlearn.kernels.features.keys import Macros, read_values, sequence_keys
from streamlearn.kernels.features.table import add_rows, find_rows
from streamlearn.kernels.jit import kernel
from streamlearn.kernels.sizes import longest_sequence


@kernel
def _keys(macros, values, first, last, by_template, keys_out):
    """Write the keys of one sequence, position after position; `by_template` is overwritten."""
    K, length = macros.seeds.size, last - first
    turned = by_template[: K * length].reshape(K, length)
    sequence_keys(macros, values, first, last, turned)
    for k in range(K):
        for t in range(length):
            keys_out[t * K + k] = turned[k, t]


@kernel
def find_features(
    macros: Macros, values: Uint64s, starts: Int64s, slots: Int32s, row_keys: Uint64s, rows_out: Int32s
) -> None:
    """Look up the features of a batch without inserting.

    Parameters
    ----------
    macros : of K templates.
    values : uint64[n, V], id of each view's value at each position.
    starts : int64[N + 1], where each sequence begins in `values`.
    slots, row_keys : the table, as in `streamlearn.kernels.features.table`.
    rows_out : int32[n · K], `ABSENT` for unknown features.
    """
    K = macros.seeds.size
    room = longest_sequence(starts) * K
    by_template, keys = np.empty(room, np.uint64), np.empty(room, np.uint64)
    for i in range(starts.size - 1):
        first, last = starts[i], starts[i + 1]
        _keys(macros, values, first, last, by_template, keys)
        find_rows(keys[: (last - first) * K], slots, row_keys, rows_out[first * K : last * K])


@kernel
def add_features(
    macros: Macros,
    values: Uint64s,
    starts: Int64s,
    n_rows: int,
    slots: Int32s,
    row_keys: Uint64s,
    row_templates: Int16s,
    row_values: Uint64s,
    rows_out: Int32s,
) -> tuple[int, int]:
    """Look up the features of a batch in order, assigning the next rows to unknown ones while there is room.

    Parameters
    ----------
    macros, values, starts : as in `find_features`.
    n_rows, slots, row_keys : as in `streamlearn.kernels.features.table.add_rows`.
    row_templates : int16[capacity], set for new rows: the template; or int16[0] where it is not recorded.
    row_values : uint64[capacity, ≥ macros of any template], set for new rows: the values the template read.
    rows_out : int32[n · K]; `ABSENT` where the table was full.

    Returns
    -------
    (rows in use after, lookups that were refused because the table was full).
    """
    K = macros.seeds.size
    room = longest_sequence(starts) * K
    by_template, keys, new = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.int64)
    refused = 0
    for i in range(starts.size - 1):
        first, last = starts[i], starts[i + 1]
        before = n_rows
        _keys(macros, values, first, last, by_template, keys)
        n_rows, full = add_rows(
            keys[: (last - first) * K], n_rows, slots, row_keys, rows_out[first * K : last * K], new
        )
        refused += full
        if row_templates.size:
            for row in range(before, n_rows):
                t, k = first + new[row - before] // K, new[row - before] % K
                row_templates[row] = k
                read_values(macros, k, values, t, first, last, row_values[row])
    return n_rows, refused
