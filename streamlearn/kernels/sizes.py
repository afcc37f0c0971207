"""The size of the largest sequence of a batch, for which working arrays are allocated."""

from streamlearn.kernels.jit import kernel


@kernel
def longest_sequence(starts):
    """Return the number of positions of the longest sequence of a batch, at least 1."""
    longest = 1
    for i in range(starts.size - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


@kernel
def most_active(starts, row_starts):
    """Return the largest number of active rows of a sequence of a batch."""
    most = 0
    for i in range(starts.size - 1):
        most = max(most, row_starts[starts[i + 1]] - row_starts[starts[i]])
    return most
