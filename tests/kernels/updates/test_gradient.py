import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.decoding import Decoding, decode
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.chain.mask import ANYTHING
from streamlearn.kernels.updates.gradient import add_gradient, new_gradient, predict_and_differentiate
from tests.kernels.lattices import lengths_up_to, make_pass, make_rows, make_weights, orders, seeds


def loss(rows, i, gold, labels, weights, known=0):
    """Return -log P(gold), the predicted labels, and the gradient."""
    gradient = new_gradient(rows, labels, 2, weights)
    first, last = rows.starts[i], rows.starts[i + 1]
    everything = np.zeros(rows.starts[-1], np.int32)
    everything[first:last] = gold
    batch = make_pass(rows, everything, known, labels)
    found = predict_and_differentiate(batch, i, known, 0, 0.0, weights, gradient)
    return found, batch.predicted_out[first:last], gradient


def zeros_like(weights):
    return Weights(*map(np.zeros_like, weights[:3]))


def difference(rows, i, gold, labels, array, place, weights, h=1e-5):
    kept = array[place]
    array[place] = kept + h
    above = loss(rows, i, gold, labels, weights)[0]
    array[place] = kept - h
    below = loss(rows, i, gold, labels, weights)[0]
    array[place] = kept
    return (below - above) / (2 * h)


@settings(max_examples=30, deadline=None)
@given(
    rng=seeds,
    lengths=lengths_up_to(2),
    labels=st.integers(1, 3),
    order=orders,
    edge_features=st.integers(0, 2),
    weighted=st.booleans(),
    importance=st.sampled_from([1.0, 0.3]),
)
def test_the_step_is_the_gradient_by_finite_differences(
    rng, lengths, labels, order, edge_features, weighted, importance
):
    rows = make_rows(rng, lengths, edge_features=edge_features, weighted=weighted)
    weights = make_weights(rng, labels, labels + 1, order)
    i = len(lengths) - 1
    gold = rng.integers(0, labels, lengths[i]).astype(np.int32)
    _, _, gradient = loss(rows, i, gold, labels, weights)
    gradient.node_steps[:] = importance
    gradient.edge_steps[:] = importance
    gradient.plain_steps[:] = importance
    gradient.triple_steps[:] = importance
    up = zeros_like(weights)
    add_gradient(rows, rows.starts[i], gold.size, labels, 3.0, up, gradient)
    for array, step, slots in zip(weights[:3], up[:3], (1, 1 + labels, 1 + labels), strict=True):
        assert np.allclose(step[:, 1], 3.0 * step[:, 0], rtol=1e-12, atol=1e-15)
        assert not step[:, :, slots:].any()
        assert not step[..., labels:].any()
        for place in np.ndindex(len(array), 1, slots, labels):
            row, _, slot, _ = place
            if array is weights.edge and row == 0 and slot == 0:
                continue  # A plain transition has no label alone.
            wanted = importance * difference(rows, i, gold, labels, array, place, weights)
            assert abs(step[place] - wanted) < 1e-7


@settings(max_examples=20, deadline=None)
@given(rng=seeds, singles=st.integers(0, 2))
def test_features_of_pairs_alone_move_no_single_label(rng, singles):
    rows = make_rows(rng, [3], edge_features=2)
    # Rows 1 and 2 are of the first template of pairs, row 3 of the second.
    edge_rows = np.where(np.arange(rows.edge_rows.size) % 2 == 0, 1 + rows.edge_rows % 2, 3).astype(np.int32)
    rows = rows._replace(edge_rows=edge_rows, edge_singles=singles)
    weights = make_weights(rng, 2, 2)
    gold = np.array([0, 1, 1], np.int32)
    _, _, gradient = loss(rows, 0, gold, 2, weights)
    gradient.node_steps[:] = gradient.edge_steps[:] = 1.0
    up = zeros_like(weights)
    add_gradient(rows, 0, 3, 2, 0.0, up, gradient)
    moved = [row for row in range(4) if up.edge[row, 0, 0].any()]
    assert set(moved) <= {0: set(), 1: {1, 2}, 2: {1, 2, 3}}[singles]
    assert not up.edge[0].any()


def test_only_known_labels_are_predicted_and_none_before_there_is_one():
    rng = np.random.default_rng(3)
    rows = make_rows(rng, [4], edge_features=1)
    weights = make_weights(rng, 3, 3)
    gold = np.zeros(4, np.int32)
    assert loss(rows, 0, gold, 3, weights, known=0)[1].tolist() == [-1] * 4
    path = np.empty(4, np.int32)
    decode(Decoding(rows, 2, 0, 0.0, ANYTHING, weights), path)
    assert loss(rows, 0, gold, 3, weights, known=2)[1].tolist() == path.tolist()
