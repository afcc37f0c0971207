import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.data import Example
from streamlearn.features import batches
from streamlearn.features.batches import joined
from tests.learners.build import make_bench
from tests.learners.streams import TEMPLATES, cut, make_stream

STREAMS = {ready_made: make_stream(30, seed=3, ready_made=ready_made) for ready_made in (False, True)}


def assert_equal(batch, other):
    for name, one, two in zip(batch._fields, batch, other, strict=True):
        assert np.array_equal(one, two), name
        assert getattr(one, "dtype", None) == getattr(two, "dtype", None), name


@pytest.mark.parametrize("ready_made", [False, True])
@pytest.mark.parametrize("learn", [False, True])
@settings(max_examples=20, deadline=None)
@given(sizes=st.lists(st.integers(1, 9), max_size=8))
def test_a_batch_encoded_in_pieces_is_the_batch(ready_made, learn, sizes):
    templates = [] if ready_made else TEMPLATES
    whole = make_bench(templates).encoder.encode(STREAMS[ready_made], learn)[0]
    encoder = make_bench(templates).encoder
    parts = [encoder.encode(piece, learn)[0] for piece in cut(STREAMS[ready_made], sizes)]
    assert_equal(joined(parts), whole)


@pytest.mark.parametrize("ready_made", [False, True])
@pytest.mark.parametrize("places", [[], [1], [7, 8, 29]])
def test_a_batch_cut_in_parts_is_what_joins_to_it(ready_made, places):
    whole = make_bench([] if ready_made else TEMPLATES).encoder.encode(STREAMS[ready_made], True)[0]
    parts = batches.cut(whole, places)
    assert [len(part.importance) for part in parts] == np.diff([0, *places, 30]).tolist()
    assert all(part.starts[0] == 0 and part.attribute_starts[0] == 0 for part in parts)
    assert_equal(joined(parts), whole)


def test_values_of_a_piece_where_all_are_1_are_filled_in():
    ones, others = Example({}, ["O"], [["a", "b"]]), Example({}, ["O"], [{"a": 0.5}])
    encoder = make_bench([]).encoder
    parts = [encoder.encode([example])[0] for example in (ones, others, ones)]
    assert joined(parts).attribute_values.tolist() == [1.0, 1.0, 0.5, 1.0, 1.0]
    assert joined([parts[0], parts[2]]).attribute_values.size == 0


def test_nothing_may_be_left_of_a_piece():
    encoder = make_bench(TEMPLATES).encoder
    parts = [encoder.encode(piece)[0] for piece in ([], STREAMS[False], [])]
    assert_equal(joined(parts), parts[1])
