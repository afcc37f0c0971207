import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.errors import CheckpointError
from streamlearn.features.table import FeatureTable

keys_lists = st.lists(st.lists(st.integers(0, 30), max_size=20), max_size=4)


def array(keys):
    return np.array(keys, np.uint64)


@settings(deadline=None)
@given(batches=keys_lists, capacity=st.integers(1, 20))
def test_rows_are_given_in_the_order_of_first_sighting_and_refusals_are_counted(batches, capacity):
    table, reference, refused = FeatureTable(capacity), {}, 0
    for keys in batches:
        wanted = []
        for key in keys:
            if len(reference) < capacity:
                reference.setdefault(key, len(reference))
            wanted.append(reference.get(key, -1))
            refused += key not in reference
        assert table.add(array(keys))[0].tolist() == wanted
        assert table.find(array(keys)).tolist() == wanted
    assert (table.size, table.refused) == (len(reference), refused)
    assert table.state()["keys"].tolist() == list(reference)


@settings(deadline=None)
@given(batches=keys_lists, later=st.lists(st.integers(0, 40), max_size=20))
def test_a_restored_table_goes_on_as_if_nothing_had_happened(batches, later):
    table, restored = FeatureTable(15), FeatureTable(15)
    restored.add(array([77, 78]))
    for keys in batches:
        table.add(array(keys))
    restored.restore(table.state())
    for one, other in zip(table.add(array(later)), restored.add(array(later)), strict=True):
        assert np.array_equal(one, other)
    assert table.refused == restored.refused
    assert restored.find(array([77])).tolist() == [-1]


def test_looking_up_adds_nothing():
    table = FeatureTable(3)
    assert table.find(array([1, 2])).tolist() == [-1, -1]
    assert (table.size, table.refused) == (0, 0)


def test_a_state_does_not_change_with_the_table():
    table = FeatureTable(3)
    table.add(array([5]))
    state = table.state()
    table.add(array([6, 7, 8]))
    assert (state["keys"].tolist(), state["refused"]) == ([5], 0)


def test_a_larger_table_takes_over_and_a_smaller_one_refuses():
    table = FeatureTable(4)
    table.add(array([4, 3, 2, 1, 0]))
    larger = FeatureTable(5)
    larger.restore(table.state())
    assert larger.add(array([0, 1]))[0].tolist() == [4, 3]
    with pytest.raises(
        CheckpointError, match=r"4 features in the checkpoint, room for 3: raise features\.max"
    ):
        FeatureTable(3).restore(table.state())
