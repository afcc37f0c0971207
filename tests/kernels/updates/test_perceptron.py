import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.updates.augmented_prediction import Search
from streamlearn.kernels.updates.averaging import AVERAGE_ALL, Averaging
from streamlearn.kernels.updates.perceptron import perceptron_pass
from tests.kernels.lattices import lengths_up_to, make_pass, make_rows, orders, seeds


def learn(rows, labels, plain_edges=True, n_labels=2, importance=1.0, order=1):
    """Learn from zero weights; return the last weights of nodes, edges and triples and the change of ‖w‖²."""
    triples = 2 if order == 2 else 0
    weights = Weights(np.zeros((6, 2, 1, 2)), np.zeros((4, 2, 3, 2)), np.zeros((triples, 2, 3, 2)))
    batch = make_pass(rows, labels, n_labels, 2, importance, plain_edges)
    change = perceptron_pass(batch, 0, 0.0, Averaging(AVERAGE_ALL, 1.0), Search(0.0, 0, False), weights)
    return *(array[:, 0] for array in weights[:3]), change


@pytest.mark.parametrize("plain_edges", [True, False])
def test_plain_transitions_are_learned_only_where_they_are_wanted(plain_edges):
    rows = make_rows(np.random.default_rng(0), [3])
    _, edge, _, _ = learn(rows, [0, 1, 1], plain_edges)
    wanted = [[-2, 1], [0, 1]] if plain_edges else [[0, 0], [0, 0]]
    assert edge[0, 1:].tolist() == wanted
    assert not edge[1:].any()


def test_triples_are_learned_where_any_of_their_labels_was_wrong():
    rows = make_rows(np.random.default_rng(0), [5, 2])
    _, edge, triple, _ = learn(rows, [1, 0, 0, 0, 0, 1, 1], order=2)
    # The first is predicted as 0 0 0 0 0; the second, predicted as 0 0, has no triple.
    assert triple[:, 1:].tolist() == [[[-1, 0], [0, 0]], [[1, 0], [0, 0]]]
    assert not triple[:, 0].any()
    assert edge[0, 1:].any()


def test_a_right_guess_changes_nothing():
    rows = make_rows(np.random.default_rng(0), [3], edge_features=2)
    node, edge, _, change = learn(rows, [0, 0, 0])
    assert not node.any()
    assert not edge.any()
    assert change == 0.0


@settings(max_examples=25, deadline=None)
@given(rng=seeds, lengths=lengths_up_to(5), singles=st.integers(0, 2), order=orders)
def test_the_change_of_the_norm_is_exact_and_pairs_only_features_never_fire_alone(
    rng, lengths, singles, order
):
    rows = make_rows(rng, lengths, edge_features=2, weighted=True)
    # Rows 1 and 2 are of the first template of pairs, row 3 of the second.
    edge_rows = np.where(np.arange(rows.edge_rows.size) % 2 == 0, 1 + rows.edge_rows % 2, 3).astype(np.int32)
    rows = rows._replace(edge_rows=edge_rows, edge_singles=singles)
    labels = rng.integers(0, 2, sum(lengths))
    node, edge, triple, change = learn(rows, labels, importance=0.5, order=order)
    assert change == (node**2).sum() + (edge**2).sum() + (triple**2).sum()
    pairs_only = edge[1:] if singles == 0 else edge[3:] if singles == 1 else edge[:1]
    assert not pairs_only[:, 0].any()
