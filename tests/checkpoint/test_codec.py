import io
import tracemalloc

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from streamlearn.checkpoint.codec import CorruptError, FormatVersionError, decode, encode, read_header
from streamlearn.checkpoint.segment import Segment
from streamlearn.errors import CheckpointError
from tests.checkpoint.build import assert_same, frame

DTYPES = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    npst.complex_number_dtypes(endianness="?", sizes=(64, 128)),
)
ARRAYS = npst.arrays(DTYPES, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
VIEWS = ARRAYS.flatmap(
    lambda array: st.sampled_from([array, array.T, array[..., ::-1] if array.ndim else array])
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    VIEWS,
)
STATES = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        LEAVES,
        lambda node: st.lists(node, max_size=4) | st.dictionaries(st.text(max_size=5), node, max_size=4),
        max_leaves=8,
    ),
)
SMALL = {"model": {"weights": np.arange(5, dtype=np.float32), "seen": np.array(7)}, "labels": ["B", "I"]}


def to_bytes(state):
    return b"".join(encode(state))


@given(STATES)
@settings(deadline=None, max_examples=100)
def test_any_state_comes_back_as_it_was(state):
    encoded = encode(state)
    data = b"".join(encoded)
    assert len(data) == encoded.size_bytes
    assert_same(decode(data), state)


def test_arrays_of_several_chunks_and_iterating_twice_give_the_same_file():
    encoded = encode({"a": np.arange(1_200_000), "b": np.ones((3, 50_001), np.float32)[:, ::2]})
    first, second = b"".join(encoded), b"".join(encoded)
    assert first == second
    assert_same(decode(first)["a"], np.arange(1_200_000))


def test_arrays_are_writable_views_if_the_buffer_is():
    assert decode(bytearray(to_bytes(SMALL)))["model"]["weights"].flags.writeable
    assert not decode(to_bytes(SMALL))["model"]["weights"].flags.writeable


def test_arrays_lie_at_multiples_of_64():
    data = to_bytes({"a": np.ones(3, np.uint8), "b": np.full(9, 7.5)})
    assert data.index(np.full(9, 7.5).tobytes()) % 64 == 0


def test_the_documented_layout_is_what_is_written():
    weights = np.arange(3, dtype="<f4")
    table = [["w", "<f4", [3], 0, 12]]
    tree = {"n": 1, "w": msgpack.ExtType(1, b"\0\0\0\0")}
    wanted = frame(msgpack.packb(table) + msgpack.packb(tree), weights.tobytes() + bytes(52))
    assert to_bytes({"n": 1, "w": weights}) == wanted


def test_truncation_at_every_byte_is_corrupt():
    data = to_bytes(SMALL)
    for size in range(len(data)):
        with pytest.raises(CorruptError):
            decode(data[:size])
        with pytest.raises(CorruptError):
            read_header(io.BytesIO(data[:size]))


def test_every_flipped_bit_is_corrupt():
    data = bytearray(to_bytes(SMALL))
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptError):
            decode(data)
        data[bit // 8] ^= 1 << bit % 8
    assert_same(decode(data), SMALL)


def test_bytes_after_the_end_are_corrupt():
    with pytest.raises(CorruptError, match="truncated or damaged"):
        decode(to_bytes(SMALL) + b"\0")


@given(st.binary(max_size=300))
def test_random_bytes_are_corrupt(data):
    with pytest.raises(CorruptError):
        decode(data)


@given(st.binary(max_size=200), st.integers(0, 2).map(lambda n: bytes(64 * n)))
@settings(max_examples=500)
def test_a_random_header_under_right_checksums_is_corrupt_or_a_state(header, data):
    decode_or_refuse(frame(header, data))


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4))
@settings(max_examples=500)
def test_a_mutated_header_under_right_checksums_is_corrupt_or_a_state(mutations):
    whole = to_bytes(SMALL)
    header_bytes = int.from_bytes(whole[16:24], "little")
    header = bytearray(whole[48 : 48 + header_bytes])
    for place, value in mutations:
        header[place % len(header)] = value
    decode_or_refuse(frame(bytes(header), bytes(128)))


def decode_or_refuse(data):
    try:
        state = decode(data)
    except CheckpointError:
        return
    assert isinstance(state, dict)


HUGE = 2**62


@pytest.mark.parametrize(
    "header",
    [
        b"\xdd\xff\xff\xff\xff" * 500,
        b"\xdf\xff\xff\xff\xff" * 500,
        msgpack.packb([]) + b"\x81" * 500,
        msgpack.packb([]) + b"\x81" + b"\xdd\xff\xff\xff\xff" * 200,
        msgpack.packb([]) + b"\xdb\xff\xff\xff\xff",
        msgpack.packb([]) + b"\xc9\xff\xff\xff\xff\x01",
        msgpack.packb([]) + msgpack.packb({"a": msgpack.ExtType(1, b"\xff\xff\xff\xff")}),
        msgpack.packb([]) + msgpack.packb({"a": msgpack.Timestamp(1)}),
        msgpack.packb([]) + msgpack.packb({1: 2}),
        msgpack.packb([]) + msgpack.packb([1]),
        msgpack.packb([]) + msgpack.packb({}) + b"\0",
        msgpack.packb([["a", "<f8", [HUGE, HUGE], 0, HUGE * HUGE * 8 % 2**64]]) + msgpack.packb({}),
        msgpack.packb([["a", "<f8", [0, HUGE], 0, 0]]) + msgpack.packb({"a": msgpack.ExtType(1, bytes(4))}),
        msgpack.packb([["a", "|O8", [0], 0, 0]]) + msgpack.packb({}),
        msgpack.packb([["a", "<f8", [-1], 0, -8]]) + msgpack.packb({}),
        msgpack.packb([["a", "<f8", [1.0], 0, 8]]) + msgpack.packb({}),
        msgpack.packb([["a", "<f8", [0] * 40, 0, 0]]) + msgpack.packb({}),
        msgpack.packb([["a", ["<f8"], [0], 0, 0]]) + msgpack.packb({}),
        msgpack.packb([["a", "<f8", 0, 0, 0]]) + msgpack.packb({}),
        msgpack.packb([["a", "<f8", [9], 0, 72]]) + msgpack.packb({}),
        msgpack.packb(7) + msgpack.packb({}),
    ],
)
def test_absurd_claims_under_right_checksums_are_corrupt_and_cost_no_memory(header):
    data = frame(header)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptError):
            decode(data)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_another_version_names_both_and_damage_to_the_version_is_not_taken_for_one():
    data = frame(b"\xff whatever version 9 has here", version=9)
    with pytest.raises(FormatVersionError, match="format version 9, this release reads 1"):
        decode(data)
    with pytest.raises(FormatVersionError, match=r"9.*1"):
        read_header(io.BytesIO(data))
    with pytest.raises(CorruptError):
        decode(data[:8] + b"\x02" + data[9:])


def test_reserved_bytes_are_refused():
    with pytest.raises(CorruptError, match="reserved"):
        decode(frame(msgpack.packb([]) + msgpack.packb({}), reserved=1))


def test_the_header_alone_gives_the_tree_with_segments_for_arrays():
    data = to_bytes(SMALL)
    damaged_weights = data[:-90] + b"\xff" + data[-89:]
    header = read_header(io.BytesIO(damaged_weights))
    assert header.state["labels"] == ["B", "I"]
    assert header.state["model"]["weights"] == Segment("model/weights", "<f4", (5,), 0, 20)
    assert [segment.name for segment in header.segments] == ["model/weights", "model/seen"]
    assert (header.format_version, header.size_bytes) == (1, len(data))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([None]), "a/1: array of dtype object"),
        (np.array(["x"]), "a/1: array of dtype <U1"),
        (np.zeros(2, "datetime64[s]"), "a/1: array of dtype datetime64"),
        (np.zeros(2, np.longdouble), "a/1: array of dtype"),
        (np.zeros(2, [("x", "f4")]), "a/1: array of dtype"),
        (np.int64(3), "a/1: cannot write int64"),
        ((1, 2), "a/1: cannot write tuple"),
        ({1: 2}, "a/1: cannot write dict"),
        (2**64, "a/1: cannot write int"),
        (object(), "a/1: cannot write object"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(value, message):
    with pytest.raises(CheckpointError, match=message):
        encode({"a": [0, value]})


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numpy 1 has 32 dimensions at most")
def test_more_dimensions_than_every_numpy_reads_are_refused():
    with pytest.raises(CheckpointError, match="a: array of 33 dimensions, wanted at most 32"):
        encode({"a": np.zeros((1,) * 33)})


def test_a_tree_that_contains_itself_is_refused():
    tree = {}
    tree["again"] = tree
    with pytest.raises(CheckpointError, match="nested deeper than 64"):
        encode(tree)


def test_the_deepest_tree_that_is_written_is_read():
    tree = {"n": 1}
    for _ in range(63):
        tree = {"n": tree}
    assert_same(decode(to_bytes(tree)), tree)
