"""Experience replay: choosing earlier sequences, and copying what belongs to them."""

import numpy as np

from streamlearn.kernels.arrays import AnyArray, Int64s
from streamlearn.kernels.features.keys import mix
from streamlearn.kernels.jit import kernel


@kernel
def interleave(starts: Int64s, first: int, count: int, tokens: int, looks: int, order_out: Int64s) -> int:
    """Order the sequences from `first` on, each followed by earlier ones, drawn by its number in the stream.

    Parameters
    ----------
    starts : int64[N + 1], where each sequence begins; those before `first` were learned earlier.
    count : sequences of the stream before `first`, without replayed ones.
    tokens : after a sequence, only those that lie completely in the `tokens` tokens before it are replayed.
    looks : replayed sequences after each one.
    order_out : int64[(N - first) · (1 + looks)], the sequences in the order of learning.

    Returns
    -------
    The number of values written to `order_out`: nothing is replayed after a sequence with none before it.
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
def take_positions(order: Int64s, starts: Int64s, values: AnyArray, values_out: AnyArray) -> int:
    """Copy the values of the positions of the chosen sequences, one value each; return their number."""
    filled = 0
    for k in range(order.size):
        for t in range(starts[order[k]], starts[order[k] + 1]):
            values_out[filled] = values[t]
            filled += 1
    return filled


@kernel
def take_rows(
    order: Int64s,
    starts: Int64s,
    row_starts: Int64s,
    rows: AnyArray,
    row_starts_out: Int64s,
    rows_out: AnyArray,
) -> None:
    """Copy the active rows (or their values) of the chosen sequences, and where those of a position begin."""
    position, filled = 0, 0
    row_starts_out[0] = 0
    for k in range(order.size):
        for t in range(starts[order[k]], starts[order[k] + 1]):
            for i in range(row_starts[t], row_starts[t + 1]):
                rows_out[filled] = rows[i]
                filled += 1
            position += 1
            row_starts_out[position] = filled
