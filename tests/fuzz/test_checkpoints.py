"""Whatever a checkpoint file holds, reading it ends with a model or a CheckpointError, in bounded memory."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.inspect import describe
from streamlearn.checkpoint.codec import HEADER_START, decode, encode, read_header
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.config.learned_part import learned_part
from streamlearn.config.load import load
from streamlearn.errors import CheckpointError, ConfigError
from streamlearn.monitor.progressive import Progressive
from tests.checkpoint.build import frame, make_checkpoint
from tests.fuzz.hostile import MIB, bounded_memory, damaged, misshapen, one_line_of
from tests.sequences import make_examples, write_config

PIECES = [
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x01"),
    *(
        b"\x91" * 100,
        b"\x81\xa1a" * 100,
        b"\xcf" + b"\xff" * 8,
        b"\xcb\x7f\xf8" + bytes(6),
        b"\xc0",
        b"\xa1\xff",
    ),
]
OTHERS = [
    *(None, True, 0, -1, 1 << 62, 1.5, float("nan"), "x", b"x", [], ["x"], [None], {}, {"x": 1}),
    *(np.zeros(0), np.zeros((2, 3)), np.arange(5), np.array(7), np.full((3, 2, 1, 9), 1e300)),
    *(np.full(70, 1 << 60), np.zeros(3, np.uint64), np.ones(68, np.int16), np.full(200, 1 << 30, np.uint32)),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a small checkpoint."""
    folder = tmp_path_factory.mktemp("fuzz")
    config = load(write_config(folder / "c.yaml", labels={"known": ["O", "B-X"]}))
    tagger = build_tagger(config)
    tagger.learn_many(make_examples(5))
    progressive = Progressive()
    checkpoint = make_checkpoint(
        model=tagger.state(), config=learned_part(config), progressive=progressive.state()
    )
    return b"".join(encode(checkpoint.to_state()))


def parts(whole):
    *_, header_bytes, data_bytes = struct.unpack("<8sIIQQ", whole[:32])
    header = whole[HEADER_START : HEADER_START + header_bytes]
    return header, whole[len(whole) - 24 - data_bytes : len(whole) - 24]


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_bytes_are_read_or_refused(whole, data):
    damage = data.draw(damaged([whole, whole[:200]], PIECES) | st.binary(max_size=100))
    with bounded_memory(4 * MIB):
        for read in (decode, lambda each: read_header(io.BytesIO(each))):
            with one_line_of(CheckpointError):
                read(damage)


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_headers_whose_checksums_are_right_are_read_or_refused(whole, data):
    header, arrays = parts(whole)
    damage = frame(data.draw(damaged([header], PIECES)), arrays)
    with bounded_memory(64 * MIB), one_line_of(CheckpointError):
        Checkpoint.from_state(decode(damage))


@given(st.integers(0, 1 << 20))
@settings(deadline=None, max_examples=200)
def test_models_whose_checksums_are_right_are_opened_or_refused(whole, tmp_path, number):
    path = tmp_path / "checkpoint-00000000000000000000.slcp"
    state = misshapen(decode(bytearray(whole)), number, OTHERS)
    path.write_bytes(b"".join(encode(state)))
    with one_line_of(CheckpointError, ConfigError):
        describe(str(path), 3)
