"""Which of the active rows of a batch belong to features that had not been seen before."""

from streamlearn.kernels.jit import kernel


@kernel
def count_unknown(starts, row_starts, rows, known, unknown_out):
    """Add, for each sequence, the sightings of features that were new, or that found no room.

    Parameters
    ----------
    starts : int64[N + 1], where each sequence begins.
    row_starts, rows : int64[n + 1], int32[·], the active rows of each position; -1 for no room.
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
