"""Marginals of either order; a chain of the second order has triples of labels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.marginals_second_order import expect, new_expected
from tests import naive
from tests.kernels.lattices import both_kinds, by_position, draw_scores, lattice_of, orders, seeds

both_orders = pytest.mark.parametrize("order", [1, 2])


def compute(emit, trans, triple=None, spare=0):
    """Return log Z, marginals, and P of triples summed over positions, [y_prev2, y_prev, y]."""
    lattice = lattice_of(emit, trans, triple, spare)
    out = new_expected(lattice)
    for values in (*out.first, *out[1:]):
        values[:] = np.nan
    length, labels = emit.shape
    log_z = expect(lattice, length, labels, len(trans) > 1, out)
    n = slice(labels)
    node, edge = out.first.node[:length, n], out.first.edge[: len(trans), n, n]
    return log_z, node, edge, out.triple.swapaxes(0, 1)[n, n, n]


def assert_as_enumerated(emit, trans, triple=None, **tolerance):
    length, labels = emit.shape
    every = by_position(emit, trans)
    model = labels, length, lambda path: naive.path_score(emit, every, path, triple)
    log_z, node, edge = naive.chain_marginals(*model)
    found_log_z, found_node, found_edge, found_triple = compute(emit, trans, triple)
    # log Z may be the small difference of large scores, and no better than they are.
    given = [scores for scores in (emit, trans, triple) if scores is not None]
    largest = max(np.abs(scores[np.isfinite(scores)]).max(initial=1.0) for scores in given)
    assert math.isclose(found_log_z, log_z, rel_tol=1e-12, abs_tol=1e-15 * largest * (1 + length))
    assert np.allclose(found_node, node, **tolerance)
    if len(trans) > 1:
        assert np.allclose(found_edge[1:], edge[1:], **tolerance)
    elif length > 1:
        assert np.allclose(found_edge[0], np.sum(edge, axis=0), **tolerance)
    if triple is not None:
        assert np.allclose(found_triple, naive.expected_triples(*model), **tolerance)


def zeros(order, labels):
    """Return triples with a score of 0, where the chain has triples."""
    return np.zeros((labels,) * 3) if order == 2 else None


@both_orders
@both_kinds
@settings(max_examples=60, deadline=None)
@given(rng=seeds, length=st.integers(1, 5), labels=st.integers(1, 4))
def test_log_z_and_marginals_are_those_of_all_labellings(rich, order, rng, length, labels):
    emit, trans = draw_scores(rng, length, labels, rich)
    triple = rng.normal(0, 2, (labels,) * 3) if order == 2 else None
    assert_as_enumerated(emit, trans, triple, rtol=1e-11, atol=1e-14)


@both_orders
@both_kinds
@settings(max_examples=80, deadline=None)
@given(
    rng=seeds,
    length=st.integers(2, 6),
    labels=st.integers(1, 3),
    scale=st.sampled_from([1.0, 100.0, 170.0, 400.0, 1e4]),
    forbidden=st.sampled_from([0.0, 0.3, 0.6]),
)
def test_marginals_are_right_however_far_scores_lie_apart_and_whatever_is_forbidden(
    rich, order, rng, length, labels, scale, forbidden
):
    def draw(share, *shape):
        scores = rng.choice([-scale, 0.0, scale], shape)
        scores[rng.random(shape) < share] = -np.inf
        return scores

    emit = draw(forbidden / 3, length, labels)
    trans = draw(forbidden, length if rich else 1, labels, labels)
    triple = draw(forbidden / 3, *(labels,) * 3) if order == 2 else None
    if compute(emit, trans, triple)[0] > -np.inf:
        assert_as_enumerated(emit, trans, triple, rtol=1e-9, atol=1e-9)
    else:
        every = by_position(emit, trans)
        best, _ = naive.best_labelling(
            labels, length, lambda path: naive.path_score(emit, every, path, triple)
        )
        assert best == -np.inf


@both_orders
def test_a_path_that_seems_lost_at_both_ends_and_wins_in_the_middle_is_not_lost(order):
    # Scaled values of label 1 underflow in both directions, and no sum of them ever looks suspicious.
    emit = np.zeros((8, 2))
    emit[[0, -1], 1] = -800
    emit[1:-1, 0] = -400
    stay = np.where(np.eye(2) > 0, 0.0, -np.inf)[None]
    assert_as_enumerated(emit, stay, zeros(order, 2), rtol=1e-9, atol=1e-9)
    assert compute(emit, stay, zeros(order, 2))[1][:, 1].min() == 1.0


def test_the_only_path_is_not_lost_though_each_number_on_it_is_small_and_their_product_no_number():
    trans, small = np.full((5, 3, 3), -np.inf), -170.0
    trans[:, 1, 1] = small
    trans[1, 0, 0] = trans[3:, 0, 0] = trans[2, 2, 2] = 0.0
    trans[2, 0, 2] = small
    emit = np.array([[0.0, small, -np.inf], *np.zeros((4, 3))])
    assert_as_enumerated(emit, trans, rtol=1e-11)


@both_orders
@both_kinds
def test_a_label_that_is_likely_so_far_may_be_a_dead_end_and_a_later_one_unreachable(rich, order):
    # Label 0 is likely and a dead end, label 2 after it likely and never reached: only 1 is possible.
    emit = np.tile([0.0, -160.0, 0.0], (6, 1))
    trans = np.full((6 if rich else 1, 3, 3), -np.inf)
    trans[:, 1, 1] = -160.0
    trans[:, 2, 2] = 0.0
    assert_as_enumerated(emit, trans, zeros(order, 3), rtol=1e-9, atol=1e-9)
    emit[0, 2] = -np.inf
    assert_as_enumerated(emit, trans, zeros(order, 3), rtol=1e-9, atol=1e-9)


@both_orders
@both_kinds
def test_nothing_is_possible_where_every_transition_is_forbidden(rich, order):
    trans = np.full((3 if rich else 1, 2, 2), -np.inf)
    assert compute(np.zeros((3, 2)), trans, zeros(order, 2))[0] == -np.inf


def test_one_label_is_certain():
    log_z, node, edge, _ = compute(np.array([[3.0], [1e4], [-1e4]]), np.array([[[0.5]]]))
    assert (log_z, node.tolist(), edge.tolist()) == (4.0, [[1.0]] * 3, [[[2.0]]])


@both_orders
@both_kinds
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_long_sequences_lose_nothing(rich, order, scale):
    # Where all transitions score the same, positions are independent.
    n, close = 1200, {"rtol": 1e-7, "atol": 1e-7}
    emit = np.random.default_rng(0).normal(0, scale, (n, 3))
    trans, triples = np.full((n if rich else 1, 3, 3), 0.25), np.full((3, 3, 3), 0.5)
    log_z, node, edge, triple = compute(emit, trans, triples if order == 2 else None)
    local = [naive.log_sum(scores) for scores in emit.tolist()]
    p = np.exp(emit - np.array(local)[:, None])
    wanted = math.fsum(local) + (n - 1) * 0.25 + ((n - 2) * 0.5 if order == 2 else 0.0)
    assert math.isclose(log_z, wanted, rel_tol=1e-12)
    assert np.allclose(node, p, **close)
    joint = p[:-1, :, None] * p[1:, None, :]
    assert np.allclose(edge[1:] if rich else edge[0], joint if rich else joint.sum(axis=0), **close)
    if order == 2:
        assert np.allclose(triple, np.einsum("ta,tb,tc->abc", p[:-2], p[1:-1], p[2:]), **close)


@both_kinds
@settings(max_examples=40, deadline=None)
@given(rng=seeds, length=st.integers(2, 5), labels=st.integers(1, 4), spare=st.integers(1, 3), order=orders)
def test_spare_capacity_changes_no_bit(rich, rng, length, labels, spare, order):
    emit, trans = draw_scores(rng, length, labels, rich)
    triple = rng.normal(0, 2, (labels,) * 3) if order == 2 else None
    tight, roomy = compute(emit, trans, triple), compute(emit, trans, triple, spare)
    for found, wanted in zip(roomy, tight, strict=True):
        assert np.array_equal(found, wanted, equal_nan=True)
