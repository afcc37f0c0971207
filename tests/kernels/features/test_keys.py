import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.features.expansion import add_features, find_features
from streamlearn.kernels.features.keys import Macros, mix, read_values, sequence_keys

BEFORE, AFTER = (np.arange(1, 65, dtype=np.uint64) << np.uint64(32 + shift) for shift in (0, 8))


def make_macros(*templates):
    """Return templates, each a seed and its macros (shift, view)."""
    macros = [macro for _, macros in templates for macro in macros]
    return Macros(
        seeds=np.array([seed for seed, _ in templates], np.uint64),
        macro_starts=np.cumsum([0, *(len(macros) for _, macros in templates)]),
        shifts=np.array([shift for shift, _ in macros], np.int64),
        views=np.array([view for _, view in macros], np.int64),
        pad_before=BEFORE,
        pad_after=AFTER,
    )


def keys_of(macros, values, starts):
    out = np.empty((len(values), macros.seeds.size), np.uint64)
    for first, last in itertools.pairwise(starts.tolist()):
        keys = np.empty((macros.seeds.size, last - first), np.uint64)
        sequence_keys(macros, values, first, last, keys)
        out[first:last] = keys.T
    return out


def fold(seed, *ids):
    key = np.uint64(seed)
    for value in ids:
        key = np.uint64(mix(key, np.uint64(value)))
    return int(key)


def test_a_key_folds_the_ids_that_its_macros_read_into_the_seed():
    macros = make_macros((7, [(0, 0), (1, 1)]), (8, [(-1, 0)]), (9, []))
    values = np.array([[10, 20], [11, 21]], np.uint64)
    keys = keys_of(macros, values, np.array([0, 2]))
    assert keys.tolist() == [
        [fold(7, 10, 21), fold(8, BEFORE[0]), 9],
        [fold(7, 11, AFTER[0]), fold(8, 10), 9],
    ]


def test_padding_counts_how_far_beyond_the_edge_a_macro_reads():
    macros = make_macros((1, [(-64, 0)]), (1, [(-2, 0)]), (1, [(2, 0)]), (1, [(64, 0)]))
    keys = keys_of(macros, np.array([[5], [6]], np.uint64), np.array([0, 2]))
    assert keys[0].tolist() == [
        fold(1, BEFORE[63]),
        fold(1, BEFORE[1]),
        fold(1, AFTER[0]),
        fold(1, AFTER[62]),
    ]
    assert keys[1].tolist() == [
        fold(1, BEFORE[62]),
        fold(1, BEFORE[0]),
        fold(1, AFTER[1]),
        fold(1, AFTER[63]),
    ]


def test_the_mixing_function_never_changes():
    # Keys are in checkpoints.
    assert fold(0, 0) == 0
    assert fold(1, 2) == 10905525725756348110
    assert fold(2**64 - 1, 2**63) == 17827707151282050795


def test_mixing_depends_on_the_order_and_changes_half_of_the_bits():
    assert fold(1, 2, 3) != fold(1, 3, 2)
    assert fold(1, 2) != fold(2, 1)
    flipped = [
        (fold(7, value) ^ fold(7, value ^ (1 << bit))).bit_count() for value in (3, 99) for bit in range(64)
    ]
    assert 28 < sum(flipped) / len(flipped) < 36
    assert min(flipped) > 10


def test_a_million_pairs_have_a_million_keys():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**63, (1000, 2), dtype=np.uint64)
    grid = np.stack(np.meshgrid(values[:, 0], values[:, 1]), axis=-1).reshape(-1, 2)
    macros = make_macros((1, [(0, 0), (0, 1)]))
    keys = keys_of(macros, grid, np.array([0, len(grid)]))
    assert len(np.unique(keys)) == len(grid)


@settings(max_examples=40, deadline=None)
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=5), seed=st.integers(0, 2**32 - 1))
def test_sequences_never_read_from_their_neighbours_and_keys_tell_what_they_were_made_of(lengths, seed):
    rng = np.random.default_rng(seed)
    macros = make_macros((1, [(-2, 0), (1, 1)]), (2, [(0, 0)]), (3, [(3, 1), (0, 1), (-1, 0)]), (4, []))
    values = rng.integers(0, 9, (sum(lengths), 2), dtype=np.uint64)
    starts = np.cumsum([0, *lengths])
    together = keys_of(macros, values, starts)
    for first, last in itertools.pairwise(starts):
        alone = keys_of(macros, values[first:last].copy(), np.array([0, last - first]))
        assert np.array_equal(together[first:last], alone)

    counts = np.diff(macros.macro_starts)
    for first, last in itertools.pairwise(starts.tolist()):
        for t in range(first, last):
            for k in range(len(counts)):
                ids = np.zeros(3, np.uint64)
                read_values(macros, k, values, t, first, last, ids)
                assert fold(macros.seeds[k], *ids[: counts[k]]) == together[t, k]


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 5), max_size=5),
    seed=st.integers(0, 2**32 - 1),
    capacity=st.integers(1, 60),
    names=st.booleans(),
)
def test_rows_are_those_of_the_keys_in_order_and_new_ones_tell_what_they_were_made_of(
    lengths, seed, capacity, names
):
    rng = np.random.default_rng(seed)
    macros = make_macros((1, [(-2, 0), (1, 1)]), (2, [(0, 0)]), (4, []))
    values = rng.integers(0, 3, (sum(lengths), 2), dtype=np.uint64)
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    slots, row_keys = np.zeros(128, np.int32), np.zeros(capacity, np.uint64)
    templates = np.full(capacity if names else 0, -1, np.int16)
    made_of = np.zeros((capacity if names else 0, 2), np.uint64)
    rows, found = np.empty((2, len(values) * 3), np.int32)
    size, refused = add_features(macros, values, starts, 0, slots, row_keys, templates, made_of, rows)
    find_features(macros, values, starts, slots, row_keys, found)
    numbers: dict[int, int] = {}
    for key in (keys := keys_of(macros, values, starts).reshape(-1).tolist()):
        if len(numbers) < capacity:
            numbers.setdefault(key, len(numbers))
    assert rows.tolist() == found.tolist() == [numbers.get(key, -1) for key in keys]
    assert (size, refused) == (len(numbers), sum(key not in numbers for key in keys))
    assert row_keys[:size].tolist() == list(numbers)
    if names:
        counts = np.diff(macros.macro_starts)
        rebuilt = [
            fold(macros.seeds[k], *made_of[row, : counts[k]]) for row, k in enumerate(templates[:size])
        ]
        assert rebuilt == list(numbers)
