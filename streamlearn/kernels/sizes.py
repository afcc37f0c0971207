"""How much the largest sequence of a batch needs, which all room to work in is made for."""

from streamlearn.kernels.jit import kernel


@kernel
def longest_sequence(starts):
    """Give the positions of the longest sequence of a batch, at least 1."""
    longest = 1
    for i in range(starts.size - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


@kernel
def most_active(starts, row_starts):
    """Give the most active rows that a sequence of a batch has."""
    most = 0
    for i in range(starts.size - 1):
        most = max(most, row_starts[starts[i + 1]] - row_starts[starts[i]])
    return most
