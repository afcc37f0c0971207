"""Sums over quanta of sequences, which what is watched for changes of the world is made of."""

from streamlearn.kernels.jit import kernel

# Columns of what is open.
_WRONG, _TOKENS, _LOSS, _UNKNOWN, _SEQUENCES = 0, 1, 2, 3, 4


@kernel
def fill_quanta(batch, quantum, keep, open_out, labels_out, usual_out, values_out):
    """Add a batch, one sequence after the other, and give the values of each quantum that becomes full.

    Parameters
    ----------
    batch : starts int64[N + 1], where each sequence begins, none of which is empty; gold and predicted label
        numbers of all tokens; losses float64[N] and unknown int64[N].
    quantum : sequences in one.
    keep : weight that the usual labels keep from one quantum to the next.
    open_out : float64[5], changed: wrong tokens, tokens, loss, unknown features and sequences so far.
    labels_out : int64[L], changed: gold labels so far.
    usual_out : float64[L], changed: those of the quanta before, which fade.
    values_out : float64[Q, 4], set, each times the quantum: share of wrong tokens, loss and unknown features
        by token, and the total variation distance between the labels and the usual ones (NaN before any).

    Returns
    -------
    How many rows of `values_out` were set.
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
    """Give the total variation distance of two histograms; labels that neither has do not change its bits."""
    total, usual_total, distance = counts.sum(), 0.0, 0.0
    for y in range(counts.size):
        usual_total += usual[y]
    for y in range(counts.size):
        distance += abs(counts[y] / total - usual[y] / usual_total)
    return 0.5 * distance
