"""Whatever a record's bytes are, reading it ends with an example or a RecordError, in bounded memory."""

import json

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.errors import RecordError
from streamlearn.stream.record_codec import RecordCodec
from tests.fuzz.hostile import MIB, bounded_memory, damaged, one_line_of
from tests.learners.build import make_bench
from tests.stream.memory import MemoryRecord

RECORDS = [
    {"columns": {"w": ["He", "reckons"], "pos": ["PRP", "VBZ"]}, "labels": ["B", "O"], "id": "a"},
    {"tokens": ["New", "York"], "labels": ["B", "I"], "weight": 0.5, "ts": 1},
    {"features": [["a", "b"], {"c": 1, "d": 0.5, "e": True, "f": "g"}], "labels": ["B", "O"], "id": 7},
]
SEEDS = [json.dumps(record).encode() for record in RECORDS] + [msgpack.packb(record) for record in RECORDS]
PIECES = [
    *(b"1e400", b"NaN", b"-Infinity", b"9" * 5000, b'"\\ud800"', b"[" * 40, b'{"a":', b"null", b"\xff"),
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"),
    *(
        b"\xd7\xff" + b"\xff" * 8,
        b"\xc7\x05\xff12345",
        b"\xc1",
        b"\xcf" + b"\xff" * 8,
        b"\xcb\x7f\xf8" + bytes(6),
    ),
]
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["content-type", "Content-Type", "x"]),
        st.none() | st.binary(max_size=40) | st.sampled_from([b"application/json", b"application/msgpack"]),
    ),
    max_size=2,
)
VALUES = damaged(SEEDS, PIECES) | st.binary(max_size=100) | st.none()


@pytest.fixture(scope="module")
def tagger():
    return {
        "columns": make_bench(["U00:%x[0,w.lower]", "B"]).tagger,
        "features": make_bench().tagger,
    }


@given(VALUES, HEADERS, st.sampled_from(["auto", "json", "msgpack"]))
@settings(deadline=None, max_examples=200)
def test_a_record_is_read_or_refused(tagger, value, headers, content_type):
    codec = RecordCodec(content_type, max_tokens=50, max_bytes=20_000)
    with bounded_memory(64 * MIB), one_line_of(RecordError):
        example = codec.decode_record(MemoryRecord("t", 0, 0, -1, None, value, headers))
        for each in tagger.values():
            each.encode([example])
