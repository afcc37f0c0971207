import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.lattice import chain_score, gather, new_lattice, score
from tests import naive
from tests.kernels.lattices import (
    PLANES,
    both_kinds,
    by_position,
    dense_scores,
    lattice_of,
    lengths_up_to,
    make_rows,
    make_weights,
    orders,
    seeds,
)


@settings(max_examples=60, deadline=None)
@given(
    rng=seeds,
    lengths=lengths_up_to(4),
    labels=st.integers(1, 3),
    spare=st.integers(0, 2),
    order=orders,
    edge_features=st.integers(0, 2),
    weighted=st.booleans(),
    plane=st.integers(0, 1),
    share=st.sampled_from([0.0, 0.5]),
)
def test_scores_are_the_sums_of_the_weights_of_active_rows(
    rng, lengths, labels, spare, order, edge_features, weighted, plane, share
):
    rows = make_rows(rng, lengths, edge_features=edge_features, weighted=weighted)
    weights = make_weights(rng, labels, labels + spare, order)
    lattice = new_lattice(rows, labels, PLANES, weights)
    rich = edge_features > 0
    for i, length in enumerate(lengths):
        gather(rows, rows.starts[i], rows.starts[i + 1], weights, lattice)
        score(length, labels, rich, weights, plane, share, lattice)
        emit, trans, triples = dense_scores(rows, i, labels, weights, plane, share)
        assert lattice.emit[:length].tolist() == emit
        assert lattice.trans[: length if rich else 1].tolist() == trans[: length if rich else 1]
        if order == 2 and length > 2:
            assert lattice.triple.swapaxes(0, 1).tolist() == triples


@pytest.mark.parametrize("order", [1, 2])
@both_kinds
@pytest.mark.parametrize("length", [1, 2, 4])
def test_the_score_of_a_labelling_is_the_sum_of_its_parts(length, rich, order):
    rng = np.random.default_rng(1)
    emit, trans = rng.normal(size=(length, 3)), rng.normal(size=(length if rich else 1, 3, 3))
    triple = rng.normal(size=(3, 3, 3)) if order == 2 else None
    labels = np.array([2, 0, 0, 1], np.int32)[:length]
    wanted = naive.path_score(emit, by_position(emit, trans), labels.tolist(), triple)
    assert math.isclose(chain_score(lattice_of(emit, trans, triple), labels, rich), wanted, rel_tol=1e-12)
