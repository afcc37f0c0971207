import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.marginals import marginals, new_marginals
from tests import naive
from tests.kernels.lattices import draw_scores, lattice_of

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
both_kinds = pytest.mark.parametrize(
    "rich", [False, True], ids=["shared transitions", "transitions by position"]
)


def compute(emit, trans):
    """Give log Z and marginals; `trans` [1, L, L] is shared by all positions."""
    lattice = lattice_of(emit, trans)
    out = new_marginals(lattice)
    log_z = marginals(lattice, len(emit), emit.shape[1], len(trans) > 1, out)
    return log_z, out.node, out.edge


def assert_as_enumerated(emit, trans, **tolerance):
    length, labels = emit.shape
    by_position = trans if len(trans) > 1 else np.repeat(trans, length, axis=0)
    log_z, node, edge = naive.chain_marginals(
        labels, length, lambda path: naive.path_score(emit, by_position, path)
    )
    found_log_z, found_node, found_edge = compute(emit, trans)
    # log Z may be the small difference of large scores, and no better than they are.
    largest = max(np.abs(scores[np.isfinite(scores)]).max(initial=1.0) for scores in (emit, trans))
    assert math.isclose(found_log_z, log_z, rel_tol=1e-12, abs_tol=1e-15 * largest * (1 + length))
    assert np.allclose(found_node, node, **tolerance)
    if len(trans) > 1:
        assert np.allclose(found_edge[1:], edge[1:], **tolerance)
    elif length > 1:
        assert np.allclose(found_edge[0], np.sum(edge, axis=0), **tolerance)


@both_kinds
@settings(max_examples=60, deadline=None)
@given(rng=seeds, length=st.integers(1, 5), labels=st.integers(1, 4))
def test_log_z_and_marginals_are_those_of_all_labellings(rich, rng, length, labels):
    emit, trans = draw_scores(rng, length, labels, rich)
    assert_as_enumerated(emit, trans, rtol=1e-11, atol=1e-14)


@both_kinds
@settings(max_examples=80, deadline=None)
@given(
    rng=seeds,
    length=st.integers(2, 6),
    labels=st.integers(1, 3),
    scale=st.sampled_from([1.0, 100.0, 400.0, 1e4]),
    forbidden=st.sampled_from([0.0, 0.3, 0.6]),
)
def test_marginals_are_right_however_far_scores_lie_apart_and_whatever_is_forbidden(
    rich, rng, length, labels, scale, forbidden
):
    emit = rng.choice([-scale, 0.0, scale], (length, labels))
    trans = rng.choice([-scale, 0.0, scale], (length if rich else 1, labels, labels))
    trans[rng.random(trans.shape) < forbidden] = -np.inf
    emit[rng.random(emit.shape) < forbidden / 3] = -np.inf
    if compute(emit, trans)[0] > -np.inf:
        assert_as_enumerated(emit, trans, rtol=1e-9, atol=1e-9)
    else:
        by_position = trans if rich else np.repeat(trans, length, axis=0)
        best, _ = naive.best_labelling(labels, length, lambda path: naive.path_score(emit, by_position, path))
        assert best == -np.inf


def test_a_path_that_seems_lost_at_both_ends_and_wins_in_the_middle_is_not_lost():
    # Scaled values of label 1 underflow in both directions, and no sum of them ever looks suspicious.
    emit = np.zeros((8, 2))
    emit[[0, -1], 1] = -800
    emit[1:-1, 0] = -400
    stay = np.where(np.eye(2) > 0, 0.0, -np.inf)[None]
    assert_as_enumerated(emit, stay, rtol=1e-9, atol=1e-9)
    assert compute(emit, stay)[1][:, 1].min() == 1.0


def test_the_only_path_is_not_lost_though_each_number_on_it_is_small_and_their_product_no_number():
    trans, small = np.full((5, 3, 3), -np.inf), -170.0
    trans[:, 1, 1] = small
    trans[1, 0, 0] = trans[3:, 0, 0] = trans[2, 2, 2] = 0.0
    trans[2, 0, 2] = small
    emit = np.array([[0.0, small, -np.inf], *np.zeros((4, 3))])
    assert_as_enumerated(emit, trans, rtol=1e-11)


@both_kinds
def test_nothing_is_possible_where_every_transition_is_forbidden(rich):
    trans = np.full((3 if rich else 1, 2, 2), -np.inf)
    assert compute(np.zeros((3, 2)), trans)[0] == -np.inf


def test_one_label_is_certain():
    log_z, node, edge = compute(np.array([[3.0], [1e4], [-1e4]]), np.array([[[0.5]]]))
    assert (log_z, node.tolist(), edge.tolist()) == (4.0, [[1.0]] * 3, [[[2.0]]])


@both_kinds
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_long_sequences_lose_nothing(rich, scale):
    # Where all transitions score the same, positions are independent.
    emit = np.random.default_rng(0).normal(0, scale, (2000, 3))
    trans = np.full((2000 if rich else 1, 3, 3), 0.25)
    log_z, node, edge = compute(emit, trans)
    local = [naive.log_sum(scores) for scores in emit.tolist()]
    wanted = np.exp(emit - np.array(local)[:, None])
    assert math.isclose(log_z, math.fsum(local) + 1999 * 0.25, rel_tol=1e-12)
    assert np.allclose(node, wanted, rtol=1e-7, atol=1e-7)
    joint = wanted[:-1, :, None] * wanted[1:, None, :]
    found = edge[1:] if rich else edge[0]
    assert np.allclose(found, joint if rich else joint.sum(axis=0), rtol=1e-7, atol=1e-7)
