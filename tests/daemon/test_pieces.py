import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.daemon.pieces import joined
from streamlearn.data import Example
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
    pieces = [encoder.encode(piece, learn)[0] for piece in cut(STREAMS[ready_made], sizes)]
    assert_equal(joined(pieces), whole)


def test_values_of_a_piece_where_all_are_1_are_filled_in():
    ones, others = Example({}, ["O"], [["a", "b"]]), Example({}, ["O"], [{"a": 0.5}])
    encoder = make_bench([]).encoder
    pieces = [encoder.encode([example])[0] for example in (ones, others, ones)]
    assert joined(pieces).attribute_values.tolist() == [1.0, 1.0, 0.5, 1.0, 1.0]
    assert joined([pieces[0], pieces[2]]).attribute_values.size == 0


def test_nothing_may_be_left_of_a_piece():
    encoder = make_bench(TEMPLATES).encoder
    pieces = [encoder.encode(piece)[0] for piece in ([], STREAMS[False], [])]
    assert_equal(joined(pieces), pieces[1])
