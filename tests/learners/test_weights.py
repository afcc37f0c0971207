import numpy as np
import pytest

from streamlearn.learners.room import Room
from streamlearn.learners.weights import ChainWeights


def empty(rows=(5, 4), planes=2, second_order=False, memory=1 << 24):
    return ChainWeights(Room(memory, planes, rows, second_order), planes)


def filled(labels, second_order=False):
    weights = empty(second_order=second_order)
    weights.reserve(labels, (3, 2))
    for array in weights.trimmed()[:3]:
        array[:] = np.arange(array.size).reshape(array.shape) + 1
    return weights


def test_shapes_are_rows_planes_slots_labels():
    assert [array.shape for array in filled(3).trimmed()[:3]] == [(3, 2, 1, 3), (2, 2, 4, 3), (0, 2, 4, 3)]
    assert filled(3, second_order=True).trimmed().triple.shape == (3, 2, 4, 3)


def test_labels_that_come_later_begin_at_zero_and_those_of_before_keep_their_weights():
    weights = filled(2, second_order=True)
    before = [array.copy() for array in weights.trimmed()[:3]]
    weights.reserve(9, (3, 2))
    node, edge, triple, _ = weights.trimmed()
    assert np.array_equal(node[..., :2], before[0])
    assert np.array_equal(edge[:, :, :3, :2], before[1])
    assert np.array_equal(triple[:2, :, :3, :2], before[2])
    assert not node[..., 2:].any()
    for pairs in (edge, triple):
        assert not pairs[:, :, 3:].any()
        assert not pairs[..., 2:].any()
    assert not triple[2:].any()


def test_rows_in_use_may_grow_with_the_labels():
    weights = filled(2)
    weights.reserve(5, (5, 4))
    node, edge = weights.trimmed()[:2]
    assert (len(node), len(edge)) == (5, 4)
    assert not node[3:].any()
    assert not edge[2:].any()


def test_labels_never_shrink_and_arrays_are_allocated_rarely():
    weights = empty(planes=1)
    arrays = {id(weights.arrays): weights.arrays}
    for labels in range(1, 101):
        weights.reserve(labels, (1, 1))
        arrays[id(weights.arrays)] = weights.arrays
    assert len(arrays) < 25
    weights.reserve(3, (1, 1))
    assert weights.n_labels == 100


@pytest.mark.parametrize("second_order", [False, True])
def test_a_state_is_what_is_in_use_whatever_the_capacity(second_order):
    roomy, tight = filled(2, second_order), empty((3, 2), 2, second_order)
    for labels in (3, 4):
        roomy.reserve(labels, (3, 2))
    state = roomy.state()
    tight.restore(state)
    for name in ("node", "edge", "triple"):
        assert tight.state()[name].tobytes() == state[name].tobytes()


def test_nothing_learned_is_restored_as_nothing():
    weights = filled(3)
    weights.restore(empty().state())
    assert weights.n_labels == 0
    assert weights.state()["node"].shape == (0, 2, 1, 0)
    weights.reserve(2, (1, 1))
    assert not weights.trimmed()[0].any()


def test_a_state_of_another_order_gives_what_is_common():
    first, second = filled(3).state(), filled(3, second_order=True).state()
    before_triples = {name: array for name, array in first.items() if name != "triple"}
    for state in (first, before_triples):
        risen = empty(second_order=True)
        risen.restore(state)
        assert np.array_equal(risen.trimmed().edge, first["edge"])
        assert not risen.trimmed().triple.any()
    for state in (second, before_triples):
        fallen = empty()
        fallen.restore(state)
        assert np.array_equal(fallen.trimmed().node, first["node"])
        assert fallen.state()["triple"].shape == (0, 2, 4, 3)
