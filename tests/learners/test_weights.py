import numpy as np

from streamlearn.learners.weights import ChainWeights


def filled(labels):
    weights = ChainWeights((5, 4), planes=2)
    weights.reserve(labels, (3, 2))
    node, edge = weights.trimmed()
    node[:] = np.arange(node.size).reshape(node.shape) + 1
    edge[:] = np.arange(edge.size).reshape(edge.shape) + 1
    return weights


def test_shapes_are_rows_planes_slots_labels():
    node, edge = filled(3).trimmed()
    assert (node.shape, edge.shape) == ((3, 2, 1, 3), (2, 2, 4, 3))


def test_labels_that_come_later_begin_at_zero_and_those_of_before_keep_their_weights():
    weights = filled(2)
    before = [array.copy() for array in weights.trimmed()]
    weights.reserve(9, (3, 2))
    node, edge = weights.trimmed()
    assert np.array_equal(node[..., :2], before[0])
    assert np.array_equal(edge[:, :, :3, :2], before[1])
    assert not node[..., 2:].any()
    assert not edge[:, :, 3:].any()
    assert not edge[..., 2:].any()


def test_rows_in_use_may_grow_with_the_labels():
    weights = filled(2)
    weights.reserve(5, (5, 4))
    node, edge = weights.trimmed()
    assert (len(node), len(edge)) == (5, 4)
    assert not node[3:].any()
    assert not edge[2:].any()


def test_labels_never_shrink_and_arrays_are_allocated_rarely():
    weights = ChainWeights((5, 4), planes=1)
    arrays = {id(weights.node): weights.node}
    for labels in range(1, 101):
        weights.reserve(labels, (1, 1))
        arrays[id(weights.node)] = weights.node
    assert len(arrays) < 25
    weights.reserve(3, (1, 1))
    assert weights.n_labels == 100


def test_a_state_is_what_is_in_use_whatever_the_capacity():
    roomy, tight = filled(2), ChainWeights((3, 2), planes=2)
    for labels in (3, 4):
        roomy.reserve(labels, (3, 2))
    state = roomy.state()
    tight.restore(state)
    for name in ("node", "edge"):
        assert tight.state()[name].tobytes() == state[name].tobytes()


def test_nothing_learned_is_restored_as_nothing():
    weights = filled(3)
    weights.restore(ChainWeights((5, 4), planes=2).state())
    assert weights.n_labels == 0
    assert weights.state()["node"].shape == (0, 2, 1, 0)
    weights.reserve(2, (1, 1))
    assert not weights.trimmed()[0].any()
