"""Counts of the features of a batch that had not been seen before."""

from streamlearn.kernels.arrays import Int32s, Int64s
from streamlearn.kernels.jit import kernel


@kernel
def count_unknown(starts: Int64s, row_starts: Int64s, rows: Int32s, known: int, unknown_out: Int64s) -> None:
    """Add, for each sequence, the sightings of features that are new, or that the full table refused.

    Parameters
    ----------
    starts : int64[N + 1], where each sequence begins.
    row_starts, rows : int64[n + 1], int32[·], the active rows of each position; -1 for refused features.
    known : rows in use before the batch: new rows are numbered from there on in the order of sighting.
    unknown_out : int64[N], added to.
    """
    if rows.size:
        for i in range(starts.size - 1):
            for j in range(row_starts[starts[i]], row_starts[starts[i + 1]]):
                if rows[j] < 0:
                    unknown_out[i] += 1
                elif rows[j] >= known:
                    known = rows[j] + 1
                    unknown_out[i] += 1
