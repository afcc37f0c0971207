"""The quick reading of plain records never says anything else than the careful one."""

import json
import struct

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.data import Example
from streamlearn.errors import RecordError
from streamlearn.stream.fast_decode import read_plain
from streamlearn.stream.record_codec import _decode_fully, decode, encode
from tests.stream.test_record_codec import BAD_JSON, BAD_MSGPACK, FORMATS, PACK, examples, near_records

KEYS = ["tokens", "columns", "features", "labels", "id", "weight", "ts", "x"]
# Some that look like keys, and some that a format spells in several ways.
words = st.sampled_from(["a", "w", "columns", "labels", ":", "\\", '"', "/", "é", "😀", "\0", ""]) | st.text(
    max_size=3
)
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats() | st.sampled_from([0, 1, 2.0, -0.0, 1e22, 1e23])


class Pairs(list):
    """A mapping that may give a key twice."""


strings = st.lists(words, max_size=3)
columns = st.lists(st.tuples(words, strings), max_size=3).map(Pairs)
plain_columns = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.tuples(words, st.lists(words, min_size=n, max_size=n)), min_size=1, max_size=3)
).map(Pairs)  # fmt: skip
odd = st.none() | st.booleans() | numbers | words | strings | columns | st.lists(strings, max_size=2)
values = {
    "tokens": strings, "labels": strings, "columns": columns | plain_columns, "id": words | numbers,
    "weight": numbers, "ts": words | numbers, "features": st.lists(strings | columns, max_size=2), "x": odd,
}  # fmt: skip
entries = st.sampled_from(KEYS).flatmap(lambda key: st.tuples(st.just(key), values[key] | odd))
likely = st.tuples(st.just("columns"), plain_columns) | st.tuples(st.just("tokens"), strings)
# The last entry may come twice.
records = st.tuples(st.lists(entries, max_size=2), likely, st.integers(1, 2)).flatmap(
    lambda parts: st.permutations([*parts[0], *[parts[1]] * parts[2]]).map(Pairs)
)


def to_json(value, draw):
    """Write JSON with spaces and escapes wherever one is allowed, as drawn."""
    space = draw(st.sampled_from(["", "", " ", "\n\t"]))
    if isinstance(value, str):
        spell = draw(st.sampled_from(["plain", "escaped", "mixed"]))
        if spell == "plain":
            return json.dumps(value, ensure_ascii=False)
        if spell == "escaped":
            units = struct.unpack(f">{len(value.encode('utf-16-be')) // 2}H", value.encode("utf-16-be"))
            return '"' + "".join(f"\\u{unit:04x}" for unit in units) + '"'
        return json.dumps(value)
    if isinstance(value, Pairs):
        inner = [to_json(key, draw) + space + ":" + to_json(item, draw) for key, item in value]
        return "{" + (space + ",").join(inner) + space + "}"
    if isinstance(value, list):
        return "[" + space + ("," + space).join(to_json(item, draw) for item in value) + "]"
    return json.dumps(value)


def to_msgpack(value, draw):
    """Write msgpack with headers longer than needed, as drawn."""
    wide = draw(st.integers(0, 3))
    if isinstance(value, str):
        data = value.encode()
        heads = [bytes([0xA0 + len(data)]) if len(data) < 32 else struct.pack(">BB", 0xD9, len(data)),
                 struct.pack(">BB", 0xD9, len(data)), struct.pack(">BH", 0xDA, len(data)),
                 struct.pack(">BI", 0xDB, len(data))]  # fmt: skip
        return heads[wide] + data
    if isinstance(value, Pairs):
        head = [bytes([0x80 + len(value)]), struct.pack(">BH", 0xDE, len(value)),
                struct.pack(">BI", 0xDF, len(value))][wide % 3]  # fmt: skip
        return head + b"".join(to_msgpack(key, draw) + to_msgpack(item, draw) for key, item in value)
    if isinstance(value, list):
        head = [bytes([0x90 + len(value)]), struct.pack(">BH", 0xDC, len(value)),
                struct.pack(">BI", 0xDD, len(value))][wide % 3]  # fmt: skip
        return head + b"".join(to_msgpack(item, draw) for item in value)
    if type(value) is int and wide:
        return struct.pack(">BQ", 0xCF, value) if value >= 0 else struct.pack(">Bq", 0xD3, value)
    return msgpack.packb(value)


WRITE = {"json": lambda value, draw: to_json(value, draw).encode(), "msgpack": to_msgpack}


def assert_agrees(value, content_type):
    quick = read_plain(value, content_type)
    if quick is None:
        return
    try:
        careful = _decode_fully(value, content_type)
    except RecordError as error:
        raise AssertionError(f"read, but to be refused: {error}") from error
    assert quick == careful
    assert [type(quick.weight), type(quick.id)] == [type(careful.weight), type(careful.id)]


@settings(max_examples=300, deadline=None)
@given(record=records, content_type=st.sampled_from(FORMATS), data=st.data())
def test_whatever_a_record_holds_and_however_it_is_written(record, content_type, data):
    assert_agrees(WRITE[content_type](record, data.draw), content_type)


@settings(max_examples=200, deadline=None)
@given(record=records | examples, content_type=st.sampled_from(FORMATS), data=st.data())
def test_whatever_happened_to_its_bytes(record, content_type, data):
    is_example = isinstance(record, Example)
    value = bytearray(encode(record, content_type) if is_example else WRITE[content_type](record, data.draw))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(value)))
        value[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    assert_agrees(bytes(value), content_type)


@settings(deadline=None)
@given(record=near_records, content_type=st.sampled_from(FORMATS))
def test_what_is_nearly_a_record(record, content_type):
    assert_agrees(PACK[content_type](record), content_type)


@pytest.mark.parametrize(
    ("value", "content_type"),
    [(value, "json") for value, _ in BAD_JSON] + [(value, "msgpack") for value, _ in BAD_MSGPACK],
)
def test_nothing_hostile_is_read(value, content_type):
    assert read_plain(value, content_type) is None


@pytest.mark.parametrize(
    "value",
    [
        b'{"columns":{"w":["a"],"\\u0077":["b"]}}',
        b'{"columns":{"w":["a:"],"w":["b"]},"labels":["O"]}',
        b'{"tokens":["a"],"t\\u006fkens":["b"]}',
        b'{"tokens":["a"],"ts":1,"ts":1}',
        b'{"tokens":["a"],"weight":null,"weight":null}',
        b'{"tokens":["a\x01"]}',
        b'{"tokens":["a"],"x":"\xff"}',
    ],
)
def test_what_only_a_careful_reader_notices_is_left_to_it(value):
    assert read_plain(value, "json") is None
    with pytest.raises(RecordError):
        decode(value, "json")


@pytest.mark.parametrize("content_type", FORMATS)
@pytest.mark.parametrize(
    "record",
    [
        {"tokens": ["a", ":"], "labels": ["O", "B"], "ts": 17},
        {"columns": {"w": ["a"], "pos": ["DT"]}, "labels": ["B"], "id": 7, "weight": 2},
        {"columns": {"w": ["12:30", "é"]}, "labels": None, "id": None, "weight": None},
        {"features": [["a"], []], "id": ""},
    ],
)
def test_usual_records_are_read_quickly(record, content_type):
    value = (
        msgpack.packb(record)
        if content_type == "msgpack"
        else json.dumps(record, ensure_ascii=False).encode()
    )
    assert read_plain(value, content_type) == _decode_fully(value, content_type)
