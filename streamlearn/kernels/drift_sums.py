"""The signals of drift detection, summed over quanta: blocks of a fixed number of sequences."""

from streamlearn.kernels.arrays import Floats, Int32s, Int64s
from streamlearn.kernels.jit import kernel

# starts, gold and predicted label numbers, losses, sightings of unknown features.
_Batch = tuple[Int64s, Int32s, Int32s, Floats, Int64s]

# Columns of the sums of the incomplete quantum.
_WRONG, _TOKENS, _LOSS, _UNKNOWN, _SEQUENCES = 0, 1, 2, 3, 4


@kernel
def fill_quanta(
    batch: _Batch,
    quantum: int,
    keep: float,
    open_out: Floats,
    labels_out: Int64s,
    usual_out: Floats,
    values_out: Floats,
) -> int:
    """Add a batch, one sequence after the other, and write the values of each quantum that it completes.

    Parameters
    ----------
    batch : starts int64[N + 1], where each sequence begins, none of which is empty; gold and predicted label
        numbers of all tokens; losses float64[N] and unknown int64[N].
    quantum : sequences in each.
    keep : factor of the usual label counts from one quantum to the next.
    open_out : float64[5], changed: wrong tokens, tokens, loss, unknown features and sequences so far.
    labels_out : int64[L], changed: gold labels so far.
    usual_out : float64[L], changed: label counts of earlier quanta, exponentially weighted.
    values_out : float64[Q, 4], set, each times the quantum: wrong tokens, loss and unknown features per
        token, and the total variation distance between the labels and the usual ones (NaN in the first).

    Returns
    -------
    The number of rows of `values_out` that were set.
    """
    starts, gold, predicted, losses, unknown = batch
    q = 0
    for i in range(starts.size - 1):
        wrong = 0
        for t in range(starts[i], starts[i + 1]):
            wrong += gold[t] != predicted[t]
            labels_out[gold[t]] += 1
        open_out[_WRONG] += wrong
        open_out[_TOKENS] += starts[i + 1] - starts[i]
        open_out[_LOSS] += losses[i]
        open_out[_UNKNOWN] += unknown[i]
        open_out[_SEQUENCES] += 1
        if open_out[_SEQUENCES] == quantum:
            tokens = open_out[_TOKENS]
            values_out[q, 0] = quantum * (open_out[_WRONG] / tokens)
            values_out[q, 1] = quantum * (open_out[_LOSS] / tokens)
            values_out[q, 2] = quantum * (open_out[_UNKNOWN] / tokens)
            values_out[q, 3] = quantum * _distance(labels_out, usual_out)
            for y in range(labels_out.size):
                usual_out[y] = keep * usual_out[y] + labels_out[y]
            labels_out[:] = 0
            open_out[:] = 0.0
            q += 1
    return q


@kernel
def _distance(counts, usual):
    """Return the total variation distance of two histograms; labels with count 0 in both change no bit."""
    total, usual_total, distance = counts.sum(), 0.0, 0.0
    for y in range(counts.size):
        usual_total += usual[y]
    for y in range(counts.size):
        distance += abs(counts[y] / total - usual[y] / usual_total)
    return 0.5 * distance
