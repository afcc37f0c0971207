"""Cost-augmented prediction: the labelling that an update moves away from."""

from typing import NamedTuple

from streamlearn.kernels.arrays import Int32s
from streamlearn.kernels.chain.beam import beam_search, best_prefix, violation
from streamlearn.kernels.chain.lattice import Lattice, Weights, chain_score, gather, score
from streamlearn.kernels.chain.mask import best_labelling
from streamlearn.kernels.chain.viterbi import viterbi
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.batch_pass import Pass


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
def hamming_distance(gold, path):
    """Return the number of wrong labels, H(gold, path)."""
    wrong = 0
    for t in range(gold.size):
        wrong += gold[t] != path[t]
    return wrong


@inner_kernel
def _add_cost(gold, n_labels, cost, lattice):
    """Add `cost` to the score of every wrong label."""
    for t in range(gold.size):
        for y in range(n_labels):
            if y != gold[t]:
                lattice.emit[t, y] += cost


@kernel
def _find_violation(lattice, gold, n_labels, rich, search, path_out):
    """Find the best labelling in the beam, or the prefix of a violation; return its length."""
    beam = beam_search(lattice, gold.size, n_labels, rich, search.beam)
    best_prefix(beam, path_out)
    if (path_out == gold).all():
        return gold.size
    size = violation(lattice, gold, rich, beam, search.is_early)
    best_prefix(beam, path_out[:size])
    return size


@kernel
def predict_augmented(
    batch: Pass,
    i: int,
    known: int,
    share: float,
    search: Search,
    weights: Weights,
    lattice: Lattice,
    path_out: Int32s,
) -> tuple[float, int]:
    """Predict a sequence, and find z = argmax_z w · Φ(x, z) + cost · H(y, z), where H counts wrong labels.

    With a cost of 0, z is what the last weights predict; otherwise it is the labelling that is furthest from
    a margin of `cost` for each of its wrong labels. With a beam, z is a prefix, as
    `streamlearn.kernels.chain.beam` describes.

    Parameters
    ----------
    batch : whose `predicted_out` is written; i : the sequence.
    known : labels that may be predicted, and be part of z.
    share : multiple of plane 1 that predictions subtract from plane 0; z is of plane 0 alone.
    path_out : int32[T], z; all 0 while no label is known. The scores that it is the best of remain in
        `lattice`, cost included.

    Returns
    -------
    (ℓ = cost · H(y, z) − w · (Φ(x, y) − Φ(x, z)), never negative where all of y is known; the length of
    the prefix of `path_out` that is z, to be compared with the same prefix of y).
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
    path_out[:] = 0
    size = length
    if known and search.beam:
        size = _find_violation(lattice, gold, known, rich, search, path_out)
    elif known:
        viterbi(lattice, known, rich, path_out)
    if known and not differ:
        predicted_out[:] = path_out
    return chain_score(lattice, path_out[:size], rich) - chain_score(lattice, gold[:size], rich), size
