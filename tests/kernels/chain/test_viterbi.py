import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.viterbi import viterbi
from tests import naive
from tests.kernels.lattices import both_kinds, by_position, draw_ties, draw_triple, lattice_of, orders, seeds


def search(emit, trans, triple=None):
    """Return (score, path); `trans` [1, L, L] is shared by all positions."""
    path = np.empty(len(emit), np.int32)
    best = viterbi(lattice_of(emit, trans, triple), emit.shape[1], len(trans) > 1, path)
    return best, path.tolist()


def enumerate_all(emit, trans, triple=None):
    every = by_position(emit, trans)
    length, labels = emit.shape
    return naive.best_labelling(labels, length, lambda path: naive.path_score(emit, every, path, triple))


@both_kinds
@settings(max_examples=80, deadline=None)
@given(rng=seeds, length=st.integers(1, 5), labels=st.integers(1, 4), order=orders)
def test_viterbi_is_the_best_of_all_labellings_and_breaks_ties_towards_the_lower_label(
    rich, rng, length, labels, order
):
    emit, trans = draw_ties(rng, length, labels, rich)
    triple = draw_triple(rng, labels, order)
    assert search(emit, trans, triple) == enumerate_all(emit, trans, triple)


@settings(max_examples=80, deadline=None)
@given(rng=seeds, length=st.integers(2, 5), labels=st.integers(1, 4), order=orders)
def test_viterbi_takes_no_forbidden_transition_while_there_is_another_way(rng, length, labels, order):
    emit, trans = draw_ties(rng, length, labels, rich=False)
    trans[rng.random(trans.shape) < 0.5] = -np.inf
    triple = draw_triple(rng, labels, order)
    wanted, path = enumerate_all(emit, trans, triple)
    found, got = search(emit, trans, triple)
    assert found == wanted
    if wanted > -np.inf:
        assert got == path


@pytest.mark.parametrize("triple", [None, np.ones((2, 2, 2))], ids=["first order", "second order"])
def test_viterbi_gives_labels_even_where_every_labelling_is_forbidden(triple):
    found, path = search(np.zeros((3, 2)), np.full((1, 2, 2), -np.inf), triple)
    assert (found, path) == (-np.inf, [0, 0, 0])


def test_viterbi_of_one_label_has_one_answer():
    emit, trans = np.array([[1.0], [-5.0], [2.0]]), np.array([[[0.5]]])
    assert search(emit, trans) == (-1.0, [0, 0, 0])
    assert search(emit, trans, np.array([[[0.25]]])) == (-0.75, [0, 0, 0])


@settings(max_examples=20, deadline=None)
@given(rng=seeds, length=st.integers(3, 40), labels=st.integers(1, 8))
def test_pairs_of_labels_as_labels_of_a_first_order_chain_have_the_same_best_score(rng, length, labels):
    emit, triple = rng.normal(size=(length, labels)), rng.normal(size=(labels,) * 3)
    trans = rng.normal(size=(1, labels, labels))
    pairs = np.full((labels,) * 4, -np.inf)
    for y in range(labels):
        pairs[:, y, y, :] = triple[:, y] + trans[0, y]
    # State (y_prev, y) at t; at t = 0 the first label is any.
    emit_of_pairs = np.repeat(emit[1:, None, :], labels, axis=1)
    emit_of_pairs[0] += emit[0][:, None] + trans[0]
    states = labels * labels
    found = search(emit_of_pairs.reshape(-1, states), pairs.reshape(1, states, states))
    got, path = search(emit, trans, triple)
    assert np.isclose(got, found[0], rtol=1e-12, atol=1e-12)
    assert path == [found[1][0] // labels] + [state % labels for state in found[1]]
