"""A bounded open-addressing hash table from 64-bit keys to dense row numbers.

Rows are numbered in the order of first sighting, so that the most frequent features are next to each other in
the first rows of every weight array, and a checkpoint holds only the rows in use. A slot holds row + 1 (0 =
empty); the keys are stored by row, where the frequent ones share cache lines.
"""

import numpy as np

from streamlearn.kernels.arrays import Int32s, Int64s, Uint64s
from streamlearn.kernels.jit import kernel

ABSENT = np.int32(-1)


@kernel
def find(key, slots, row_keys):
    """Return the slot of `key`, or the empty slot where it belongs (linear probing)."""
    mask = np.uint64(slots.size - 1)
    slot = key & mask
    while True:
        row = slots[slot]
        if row == 0 or row_keys[row - 1] == key:
            return slot
        slot = (slot + np.uint64(1)) & mask


@kernel
def _guess_rows(keys, slots, rows_out):
    """Read the row in the first slot of each key: correct for most, -1 where there is none.

    The loads depend neither on each other nor on a comparison, so that many are in flight at once.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(keys.size):
        rows_out[i] = slots[keys[i] & mask] - 1


@kernel
def find_rows(keys: Uint64s, slots: Int32s, row_keys: Uint64s, rows_out: Int32s) -> None:
    """Look up many keys without inserting: `rows_out` int32, `ABSENT` for unknown ones."""
    _guess_rows(keys, slots, rows_out)
    for i in range(keys.size):
        row = rows_out[i]
        if row >= 0 and row_keys[row] != keys[i]:
            rows_out[i] = slots[find(keys[i], slots, row_keys)] - 1


@kernel
def add_rows(
    keys: Uint64s, n_rows: int, slots: Int32s, row_keys: Uint64s, rows_out: Int32s, new_out: Int64s
) -> tuple[int, int]:
    """Look up many keys in order, assigning the next rows to unknown ones while there is room.

    Parameters
    ----------
    keys : uint64[n].
    n_rows : rows in use before.
    slots : int32[power of two], more than `row_keys.size`, changed in place.
    row_keys : uint64[capacity], changed in place.
    rows_out : int32[n]; `ABSENT` where the table was full.
    new_out : int64[n], the place in `keys` where each new row was first seen.

    Returns
    -------
    (rows in use after, lookups that were refused because the table was full).
    """
    capacity = row_keys.size
    before = n_rows
    refused = 0
    _guess_rows(keys, slots, rows_out)
    for i in range(keys.size):
        row = rows_out[i]
        if row >= 0 and row_keys[row] == keys[i]:
            continue
        # A key before this one may have filled a slot that was empty.
        slot = find(keys[i], slots, row_keys)
        row = slots[slot] - 1
        if row < 0:
            if n_rows < capacity:
                row = n_rows
                slots[slot] = row + 1
                row_keys[row] = keys[i]
                new_out[row - before] = i
                n_rows += 1
            else:
                refused += 1
        rows_out[i] = row
    return n_rows, refused
