import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.features.table import add_rows, find_rows

# Few values, some of which meet in one slot whatever the size of the table.
keys_lists = st.lists(
    st.sampled_from([0, 1, 2, 1 << 40, 3 << 40, (1 << 64) - 1, (1 << 63) + 1])
    | st.integers(0, (1 << 64) - 1),
    max_size=60,
)


class Table:
    def __init__(self, capacity, slots):
        self.slots = np.zeros(slots, np.int32)
        self.row_keys = np.zeros(capacity, np.uint64)
        self.size = 0

    def add(self, keys):
        keys = np.array(keys, np.uint64)
        rows = np.empty(keys.size, np.int32)
        new = np.empty(min(keys.size, self.row_keys.size - self.size), np.int64)
        before = self.size
        self.size, refused = add_rows(keys, self.size, self.slots, self.row_keys, rows, new)
        return rows.tolist(), new[: self.size - before].tolist(), refused

    def find(self, keys):
        rows = np.empty(len(keys), np.int32)
        find_rows(np.array(keys, np.uint64), self.slots, self.row_keys, rows)
        return rows.tolist()


@settings(max_examples=100, deadline=None)
@given(batches=st.lists(keys_lists, max_size=4), capacity=st.integers(1, 40))
def test_the_table_is_a_dictionary_that_stops_growing(batches, capacity):
    table, reference = Table(capacity, 64), {}
    for keys in batches:
        wanted, new, refused = [], [], 0
        for place, key in enumerate(keys):
            if key not in reference and len(reference) < capacity:
                reference[key] = len(reference)
                new.append(place)
            wanted.append(reference.get(key, -1))
            refused += key not in reference
        assert table.find([]) == []
        assert table.add(keys) == (wanted, new, refused)
        assert table.find(keys) == wanted
    assert table.size == len(reference)
    assert table.row_keys[: table.size].tolist() == list(reference)


def test_keys_that_all_meet_in_one_slot_are_told_apart():
    keys = [n << 32 for n in range(1, 31)]
    table = Table(30, 32)
    assert table.add(keys)[0] == list(range(30))
    assert table.find(keys[::-1]) == list(range(30))[::-1]
    assert table.find([31 << 32]) == [-1]


def test_probing_goes_round_the_end_of_the_table():
    table = Table(3, 4)
    keys = [3, 7, 11]
    table.add(keys)
    assert table.find(keys) == [0, 1, 2]
    assert table.slots.tolist() == [2, 3, 0, 1]


def test_the_key_0_is_a_key_like_any_other():
    table = Table(2, 4)
    assert table.find([0]) == [-1]
    assert table.add([0, 5, 0]) == ([0, 1, 0], [0, 1], 0)


def test_a_table_of_one_row_keeps_the_first_key():
    table = Table(1, 16)
    assert table.add([9, 8, 9]) == ([0, -1, 0], [0], 1)
