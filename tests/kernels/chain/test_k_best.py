import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.k_best import k_best, new_k_best
from tests import naive
from tests.kernels.chain.test_viterbi import search
from tests.kernels.lattices import both_kinds, by_position, draw_ties, draw_triple, lattice_of, orders, seeds

numbers = st.integers(1, 16)


def found(emit, trans, k, triple=None):
    """Return [(score, path)], best first; `trans` [1, L, L] is shared by all positions."""
    paths, scores = np.full((k, len(emit)), -1, np.int32), np.empty(k)
    lattice = lattice_of(emit, trans, triple)
    k_best(lattice, len(emit), emit.shape[1], len(trans) > 1, new_k_best(lattice, k), paths, scores)
    pairs = list(zip(scores.tolist(), paths.tolist(), strict=True))
    assert all(path == [-1] * len(emit) for score, path in pairs if score == -np.inf)
    return [pair for pair in pairs if pair[0] > -np.inf]


def enumerated(emit, trans, k, triple):
    every = by_position(emit, trans)
    scores = emit.shape[1], len(emit), lambda path: naive.path_score(emit, every, path, triple), k
    return naive.best_labellings(*scores)


@pytest.mark.parametrize("forbidden", [0.0, 0.4])
@both_kinds
@settings(max_examples=60, deadline=None)
@given(rng=seeds, length=st.integers(1, 4), labels=st.integers(1, 4), k=numbers, order=orders)
def test_the_k_best_of_all_labellings_come_in_order_ties_included(
    forbidden, rich, rng, length, labels, k, order
):
    emit, trans = draw_ties(rng, length, labels, rich)
    emit[rng.random(emit.shape) < forbidden / 4] = -np.inf
    trans[rng.random(trans.shape) < forbidden] = -np.inf
    triple = draw_triple(rng, labels, order)
    assert found(emit, trans, k, triple) == enumerated(emit, trans, k, triple)


@settings(max_examples=30, deadline=None)
@given(rng=seeds, length=st.integers(1, 30), labels=st.integers(1, 6), k=numbers, order=orders)
@example(rng=np.random.default_rng(201), length=3, labels=4, k=1, order=2)
def test_the_first_is_what_viterbi_finds(rng, length, labels, k, order):
    emit = rng.normal(size=(length, labels)).round(1)
    trans = rng.normal(size=(1, labels, labels)).round(1)
    triple = draw_triple(rng, labels, order)
    assert found(emit, trans, k, triple)[0] == search(emit, trans, triple)


def test_there_are_fewer_where_fewer_exist():
    emit = np.array([[1.0, 0.0], [0.0, 0.0]])
    wanted = [(1.0, [0, 0]), (1.0, [0, 1]), (0.0, [1, 0]), (0.0, [1, 1])]
    assert found(emit, np.zeros((1, 2, 2)), 16) == wanted
    assert found(np.array([[0.5]]), np.zeros((1, 1, 1)), 3) == [(0.5, [0])]


def test_there_is_none_where_all_are_forbidden():
    assert found(np.zeros((3, 2)), np.full((1, 2, 2), -np.inf), 4) == []


def test_all_labellings_of_equal_scores_are_told_apart():
    paths = [path for _, path in found(np.zeros((2, 4)), np.zeros((1, 4, 4)), 16)]
    assert paths == [[first, last] for last in range(4) for first in range(4)]
