"""Choosing and copying sequences of a batch: for second looks at recent ones."""

import numpy as np

from streamlearn.kernels.features.keys import mix
from streamlearn.kernels.jit import kernel


@kernel
def interleave(starts, first, count, tokens, looks, order_out):
    """Follow each sequence from `first` on by looks at ones before it, drawn by its number in the stream.

    Parameters
    ----------
    starts : int64[N + 1], where each sequence begins; those before `first` were learned earlier.
    count : sequences of the stream before `first`, looks not counted.
    tokens : only sequences that lie wholly in so many tokens before a sequence are looked at after it.
    looks : how many looks follow each sequence.
    order_out : int64[(N - first) · (1 + looks)], the sequences in the order of learning.

    Returns
    -------
    How many of `order_out` were filled: a sequence with none before it is followed by no look.
    """
    filled, low = 0, 0
    for i in range(first, starts.size - 1):
        order_out[filled] = i
        filled += 1
        while starts[i] - starts[low] > tokens:
            low += 1
        for look in range(looks):
            if low < i:
                draw = mix(np.uint64(count), np.uint64(look + 1))
                order_out[filled] = low + np.int64(draw % np.uint64(i - low))
                filled += 1
        count += 1
    return filled


@kernel
def take_positions(order, starts, values, values_out):
    """Copy what belongs to the positions of the chosen sequences, one value each; give how many."""
    filled = 0
    for k in range(order.size):
        for t in range(starts[order[k]], starts[order[k] + 1]):
            values_out[filled] = values[t]
            filled += 1
    return filled


@kernel
def take_rows(order, starts, row_starts, rows, row_starts_out, rows_out):
    """Copy the active rows (or their values) of the chosen sequences, and where each position's begin."""
    position, filled = 0, 0
    row_starts_out[0] = 0
    for k in range(order.size):
        for t in range(starts[order[k]], starts[order[k] + 1]):
            for i in range(row_starts[t], row_starts[t + 1]):
                rows_out[filled] = rows[i]
                filled += 1
            position += 1
            row_starts_out[position] = filled
