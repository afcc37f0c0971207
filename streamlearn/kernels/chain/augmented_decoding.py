"""The labelling that an update moves away from: the best one, or the one that a margin asks most of."""

from typing import NamedTuple

from streamlearn.kernels.chain.beam import beam_search, best_prefix, violation
from streamlearn.kernels.chain.lattice import chain_score, gather, score
from streamlearn.kernels.chain.mask import best_labelling
from streamlearn.kernels.chain.viterbi import viterbi
from streamlearn.kernels.jit import inner_kernel, kernel


class Search(NamedTuple):
    """How the labelling that an update moves away from is searched.

    Attributes
    ----------
    cost : added for each wrong label.
    beam : labels kept at each position; 0 for all.
    is_early : whether updates with a beam stop at the first violation, else they end at the largest.
    """

    cost: float
    beam: int
    is_early: bool


@inner_kernel
def _add_cost(gold, n_labels, cost, lattice):
    """Add `cost` to the score of every wrong label."""
    for t in range(gold.size):
        for y in range(n_labels):
            if y != gold[t]:
                lattice.emit[t, y] += cost


@kernel
def _violate(lattice, gold, n_labels, rich, search, rival_out):
    """Find the best labelling in the beam, or the prefix to move away from; give its length."""
    beam = beam_search(lattice, gold.size, n_labels, rich, search.beam)
    best_prefix(beam, rival_out)
    if (rival_out == gold).all():
        return gold.size
    size = violation(lattice, gold, rich, beam, search.is_early)
    best_prefix(beam, rival_out[:size])
    return size


@kernel
def find_rival(batch, i, known, share, search, weights, lattice, rival_out):
    """Label a sequence as predictions are made, and find z = argmax_z w · Φ(x, z) + cost · H(y, z).

    H counts wrong labels. With a cost of 0, z is what the last weights say; else it is the labelling that
    falls shortest of a margin of `cost` for each of its wrong labels (cost-augmented decoding). With a beam,
    z is a prefix, of what `streamlearn.kernels.chain.beam` says.

    Parameters
    ----------
    batch : Pass, whose `predicted_out` is written; i : the sequence.
    known : labels that may be predicted, and be part of z.
    share : of plane 1, as for `streamlearn.kernels.chain.lattice.score`, in predictions; z is of plane 0.
    search : Search.
    rival_out : int32[T], z; all 0 while no label is known. The scores that it is the best of stay in
        `lattice`, cost included.

    Returns
    -------
    (ℓ = cost · H(y, z) − w · (Φ(x, y) − Φ(x, z)), never negative where all of y is known; the length of
    the prefix of `rival_out` that is z, to be compared with the same prefix of y).
    """
    rows, mask, n_labels = batch.rows, batch.mask, batch.labels_known[i]
    first, last = rows.starts[i], rows.starts[i + 1]
    gold, predicted_out = batch.labels[first:last], batch.predicted_out[first:last]
    length, rich = gold.size, rows.edge_rows.size > 0
    differ = share > 0.0 or search.cost > 0.0 or search.beam > 0 or mask.pairs.size > 0
    gather(rows, first, last, weights, lattice)
    predicted_out[:] = -1
    if known and differ:
        best_labelling(known, rich, weights, 0, share, mask, lattice, predicted_out)
    score(length, n_labels, rich, weights, 0, 0.0, lattice)
    if search.cost:
        _add_cost(gold, n_labels, search.cost, lattice)
    rival_out[:] = 0
    size = length
    if known and search.beam:
        size = _violate(lattice, gold, known, rich, search, rival_out)
    elif known:
        viterbi(lattice, known, rich, rival_out)
    if known and not differ:
        predicted_out[:] = rival_out
    return chain_score(lattice, rival_out[:size], rich) - chain_score(lattice, gold[:size], rich), size
