import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain import gather, new_lattice, score, viterbi
from tests import naive
from tests.kernels.lattices import PLANES, dense_scores, lattice_of, make_rows, make_weights

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def search(emit, trans):
    """Give (score, path); `trans` [1, L, L] is shared by all positions."""
    path = np.empty(len(emit), np.int32)
    best = viterbi(lattice_of(emit, trans), emit.shape[1], len(trans) > 1, path)
    return best, path.tolist()


def enumerate_all(emit, trans):
    shared = trans if len(trans) == len(emit) else np.repeat(trans, len(emit), axis=0)
    return naive.best_labelling(emit.shape[1], len(emit), lambda path: naive.path_score(emit, shared, path))


@pytest.mark.parametrize("rich", [False, True], ids=["shared transitions", "transitions by position"])
@settings(max_examples=60, deadline=None)
@given(rng=seeds, length=st.integers(1, 5), labels=st.integers(1, 4))
def test_viterbi_is_the_best_of_all_labellings_and_breaks_ties_towards_the_lower_label(
    rich, rng, length, labels
):
    emit = rng.integers(-1, 2, (length, labels)).astype(np.float64)
    trans = rng.integers(-1, 2, (length if rich else 1, labels, labels)).astype(np.float64)
    assert search(emit, trans) == enumerate_all(emit, trans)


@settings(max_examples=60, deadline=None)
@given(rng=seeds, length=st.integers(2, 5), labels=st.integers(1, 4))
def test_viterbi_takes_no_forbidden_transition_while_there_is_another_way(rng, length, labels):
    emit = rng.integers(-1, 2, (length, labels)).astype(np.float64)
    trans = rng.integers(-1, 2, (1, labels, labels)).astype(np.float64)
    trans[rng.random(trans.shape) < 0.5] = -np.inf
    wanted, path = enumerate_all(emit, trans)
    found, got = search(emit, trans)
    assert found == wanted
    if wanted > -np.inf:
        assert got == path


def test_viterbi_gives_labels_even_where_every_labelling_is_forbidden():
    found, path = search(np.zeros((3, 2)), np.full((1, 2, 2), -np.inf))
    assert (found, path) == (-np.inf, [0, 0, 0])


def test_viterbi_of_one_label_has_one_answer():
    assert search(np.array([[1.0], [-5.0], [2.0]]), np.array([[[0.5]]])) == (-1.0, [0, 0, 0])


@settings(max_examples=60, deadline=None)
@given(
    rng=seeds,
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    labels=st.integers(1, 3),
    spare=st.integers(0, 2),
    edge_features=st.integers(0, 2),
    weighted=st.booleans(),
    plane=st.integers(0, 1),
    share=st.sampled_from([0.0, 0.5]),
)
def test_scores_are_the_sums_of_the_weights_of_active_rows(
    rng, lengths, labels, spare, edge_features, weighted, plane, share
):
    rows = make_rows(rng, lengths, edge_features=edge_features, weighted=weighted)
    node, edge = make_weights(rng, labels, labels + spare)
    lattice = new_lattice(rows, labels, PLANES, node, edge)
    rich = edge_features > 0
    for i, length in enumerate(lengths):
        gather(rows, rows.starts[i], rows.starts[i + 1], node, edge, lattice)
        score(length, labels, rich, edge, plane, share, lattice)
        emit, trans = dense_scores(rows, i, labels, node, edge, plane, share)
        assert lattice.emit[:length].tolist() == emit
        assert lattice.trans[: length if rich else 1].tolist() == trans[: length if rich else 1]
