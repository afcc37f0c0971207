import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.decoding import Decoding, decode, decode_k_best, decode_marginals
from streamlearn.kernels.chain.mask import ANYTHING, Mask
from tests import naive
from tests.kernels.lattices import dense_scores, lengths_up_to, make_mask, make_rows, make_weights, seeds

K = 5


@st.composite
def problems(draw):
    """Draw what to decode, and [(L, T, score of a labelling)]."""
    rng, labels = draw(seeds), draw(st.integers(1, 3))
    lengths = draw(lengths_up_to(4))
    edge_features = draw(st.integers(0, 2))
    plane, share = draw(st.integers(0, 1)), draw(st.sampled_from([0.0, 0.25]))
    rows = make_rows(rng, lengths, edge_features=edge_features, weighted=draw(st.booleans()))
    weights = make_weights(rng, labels, labels + draw(st.integers(0, 1)), draw(st.integers(1, 2)))
    mask = make_mask(rng, labels + draw(st.integers(0, 1))) if draw(st.booleans()) else ANYTHING
    scored = []
    for i, length in enumerate(lengths):
        emit, trans, triples = dense_scores(rows, i, labels, weights, plane, share)
        scored.append((labels, length, masked_score(emit, trans, triples, mask, labels)))
    return Decoding(rows, labels, plane, share, mask, weights), scored


def masked_score(emit, trans, triples, mask, labels):
    """Return the score of allowed labellings, or of all if the mask allows none."""

    def plain(path):
        return naive.path_score(emit, trans, path, triples)

    def masked(path):
        pairs = itertools.pairwise(path)
        ends = mask.first[path[0]] + mask.last[path[-1]]
        return plain(path) + ends + sum(mask.pairs[pair] for pair in pairs)

    if mask.pairs.size and naive.best_labelling(labels, len(emit), masked)[0] > -math.inf:
        return masked
    return plain


def cut(starts, array):
    return [array[..., a:b] for a, b in itertools.pairwise(starts)]


@settings(max_examples=80, deadline=None)
@given(problem=problems())
def test_decoding_finds_the_best_of_what_is_allowed_and_changes_no_weight(problem):
    task, scored = problem
    before = [array.copy() for array in task.weights[:3]]
    path = np.empty(task.rows.starts[-1], np.int32)
    decode(task, path)
    for found, one in zip(cut(task.rows.starts, path), scored, strict=True):
        assert found.tolist() == naive.best_labelling(*one)[1]
    assert all(np.array_equal(*pair) for pair in zip(before, task.weights[:3], strict=True))


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_probabilities_are_those_among_what_is_allowed(problem):
    task, scored = problem
    starts = task.rows.starts
    token, sequence, log_z = np.empty(starts[-1]), np.empty(len(scored)), np.empty(len(scored))
    every = np.empty((starts[-1], task.n_labels))
    decode_marginals(task, token, every, sequence, log_z)
    for i, (labels, length, score) in enumerate(scored):
        best, path = naive.best_labelling(labels, length, score)
        wanted_log_z, node, _ = naive.chain_marginals(labels, length, score)
        assert math.isclose(log_z[i], wanted_log_z, abs_tol=1e-9)
        assert math.isclose(sequence[i], best - wanted_log_z, abs_tol=1e-9)
        found = every[starts[i] : starts[i + 1]]
        assert np.allclose(found, node, rtol=1e-9, atol=1e-12)
        wanted = [node[t][y] for t, y in enumerate(path)]
        assert np.allclose(token[starts[i] : starts[i + 1]], wanted, rtol=1e-9, atol=0)


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_the_k_best_are_those_among_what_is_allowed(problem):
    task, scored = problem
    paths = np.empty((K, task.rows.starts[-1]), np.int32)
    scores = np.empty((len(scored), K))
    decode_k_best(task, paths, scores)
    for i, (found, one) in enumerate(zip(cut(task.rows.starts, paths), scored, strict=True)):
        wanted = naive.best_labellings(*one, K)
        pairs = zip(scores[i].tolist(), found.tolist(), strict=True)
        assert [pair for pair in pairs if pair[0] > -math.inf] == wanted


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("edge_features", [0, 1])
def test_a_mask_that_allows_nothing_does_not_count(edge_features, order):
    rng = np.random.default_rng(3)
    rows = make_rows(rng, [3, 1], edge_features=edge_features)
    weights = make_weights(rng, 2, 2, order)
    nothing = Mask(np.full(2, -np.inf), np.zeros((2, 2)), np.zeros(2))
    free, masked = np.empty(4, np.int32), np.empty(4, np.int32)
    decode(Decoding(rows, 2, 0, 0.0, ANYTHING, weights), free)
    decode(Decoding(rows, 2, 0, 0.0, nothing, weights), masked)
    assert masked.tolist() == free.tolist()
