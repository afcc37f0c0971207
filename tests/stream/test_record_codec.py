import json
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Literal

import jsonschema
import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError
from streamlearn.stream.record_codec import ContentType, RecordCodec, decode, encode, schema

FORMATS: tuple[ContentType, ...] = ("json", "msgpack")
PACK: dict[ContentType, Callable[[Any], bytes]] = {
    "json": lambda value: json.dumps(value).encode(),
    "msgpack": msgpack.packb,
}
VALIDATOR = jsonschema.Draft202012Validator(schema())

GOOD: list[tuple[dict[str, Any], Example]] = [
    ({"tokens": ["a"]}, Example({"tokens": ["a"]})),
    ({"tokens": ["", "\0\u200b"], "labels": ["O", "B"]}, Example({"tokens": ["", "\0\u200b"]}, ["O", "B"])),
    ({"columns": {"w": ["a"], "pos": ["X"]}}, Example({"w": ["a"], "pos": ["X"]})),
    ({"columns": {"": ["a"]}, "tokens": None, "labels": None}, Example({"": ["a"]})),
    (
        {"tokens": ["a"], "id": 12, "weight": 2, "ts": [], "genre": {"x": None}},
        Example({"tokens": ["a"]}, id="12", weight=2.0),
    ),
    ({"tokens": ["a"], "id": "é", "weight": 0.5}, Example({"tokens": ["a"]}, id="é", weight=0.5)),
    ({"tokens": ["a"], "id": -3.0, "weight": None}, Example({"tokens": ["a"]}, id="-3")),
    ({"features": [["x", "x"], []], "labels": ["A", "B"]}, Example({}, ["A", "B"], [["x", "x"], []])),
    ({"features": [{"x": 1.5, "y": -2}, {}]}, Example({}, None, [{"x": 1.5, "y": -2.0}, {}])),
    (
        {"features": [{"x": True, "y": False, "shape": "Xx"}]},
        Example({}, None, [{"x": 1.0, "y": 0.0, "shape=Xx": 1.0}]),
    ),
]

# What a JSON Schema can say as well.
BAD: list[tuple[Any, Reason, str]] = [
    (None, Reason.TYPE, "the record is null, wanted a mapping"),
    (["tokens"], Reason.TYPE, "the record is a list, wanted a mapping"),
    ({}, Reason.EMPTY, "the record has none of tokens, columns and features, wanted one of them"),
    (
        {"labels": ["O"]},
        Reason.EMPTY,
        "the record has none of tokens, columns and features, wanted one of them",
    ),
    (
        {"tokens": ["a"], "columns": {"w": ["a"]}},
        Reason.TYPE,
        "the record has tokens and columns, wanted one of them",
    ),
    ({"tokens": []}, Reason.EMPTY, "tokens is empty, wanted at least one entry"),
    ({"tokens": "ab"}, Reason.TYPE, "tokens is a string, wanted a list of strings"),
    ({"tokens": ["a", 7]}, Reason.TYPE, "tokens[1] is a number, wanted a string"),
    ({"columns": {}}, Reason.EMPTY, "columns is empty, wanted at least one column"),
    ({"columns": ["a"]}, Reason.TYPE, "columns is a list, wanted a mapping of name to list"),
    ({"columns": {"w": []}}, Reason.EMPTY, "columns.w is empty, wanted at least one entry"),
    ({"columns": {"w": None}}, Reason.TYPE, "columns.w is null, wanted a list of strings"),
    ({"columns": {"a\nb": [[]]}}, Reason.TYPE, "columns.'a\\nb'[0] is a list, wanted a string"),
    ({"tokens": ["a"], "labels": "O"}, Reason.TYPE, "labels is a string, wanted a list of strings"),
    ({"tokens": ["a"], "labels": [None]}, Reason.TYPE, "labels[0] is null, wanted a string"),
    ({"tokens": ["a"], "labels": [""]}, Reason.TYPE, "labels[0] is an empty string, wanted a label"),
    ({"tokens": ["a"], "weight": 0}, Reason.TYPE, "weight is 0, wanted a number > 0"),
    ({"tokens": ["a"], "weight": True}, Reason.TYPE, "weight is a boolean, wanted a number > 0"),
    ({"tokens": ["a"], "id": ["x"]}, Reason.TYPE, "id is a list, wanted a string or a whole number"),
    ({"tokens": ["a"], "id": 1.5}, Reason.TYPE, "id is a number, wanted a string or a whole number"),
    ({"features": {}}, Reason.TYPE, "features is a mapping, wanted a list"),
    ({"features": []}, Reason.EMPTY, "features is empty, wanted at least one position"),
    (
        {"features": ["x"]},
        Reason.TYPE,
        "features[0] is a string, wanted a list or a mapping at every position",
    ),
    ({"features": [[], {}]}, Reason.TYPE, "features[1] is a mapping, wanted a list at every position"),
    ({"features": [["a"], [1]]}, Reason.TYPE, "features[1][0] is a number, wanted a string"),
    (
        {"features": [{"x": None}]},
        Reason.TYPE,
        "features[0].x is null, wanted a number, a boolean or a string",
    ),
]

# What it cannot.
BAD_BEYOND_SCHEMA: list[tuple[Any, Reason, str]] = [
    (
        {"columns": {"pos": ["a"] * 6, "w": ["b"] * 7}},
        Reason.LENGTH,
        "columns.pos has 6 entries but columns.w has 7, wanted equal lengths",
    ),
    ({"tokens": ["a"], "labels": []}, Reason.LENGTH, "labels has 0 entries, wanted one for each of 1 tokens"),
    (
        {"features": [[]], "labels": ["A", "B"]},
        Reason.LENGTH,
        "labels has 2 entries, wanted one for each of 1 tokens",
    ),
    (
        {"features": [{"a=b": 2, "a": "b"}]},
        Reason.DUPLICATE_KEY,
        "features[0] has the same feature twice, as name=value and as a string value",
    ),
]

BAD_JSON: list[tuple[bytes, Reason]] = [
    (b"", Reason.SYNTAX),
    (b"{", Reason.SYNTAX),
    (b'{"tokens":["a"]} x', Reason.SYNTAX),
    (b"\xef\xbb\xbf{}", Reason.EMPTY),
    (b'{"tokens":["\xff"]}', Reason.ENCODING),
    (b'{"tokens":["\xed\xa0\x80"]}', Reason.ENCODING),
    (b'{"tokens":["\\ud800"]}', Reason.ENCODING),
    (b'{"\\udfff":1,"tokens":["a"]}', Reason.ENCODING),
    (b'{"tokens":["a"],"tokens":["b"]}', Reason.DUPLICATE_KEY),
    (b'{"columns":{"w":["a"],"w":["b"]}}', Reason.DUPLICATE_KEY),
    (b'{"tokens":["a"],"\\ud800":1,"\\ud800":2}', Reason.DUPLICATE_KEY),
    (b'{"tokens":["a"],"x":NaN}', Reason.NOT_FINITE),
    (b'{"tokens":["a"],"weight":-Infinity}', Reason.NOT_FINITE),
    (b'{"tokens":["a"],"weight":1e999}', Reason.NOT_FINITE),
    (b'{"tokens":["a"],"weight":1' + b"0" * 400 + b"}", Reason.NOT_FINITE),
    (b'{"tokens":["a"],"weight":1' + b"0" * 9999 + b"}", Reason.SYNTAX),
    (b'{"features":[{"x":1e999}]}', Reason.NOT_FINITE),
    (b"[" * 100_000, Reason.SYNTAX),
    (b'{"tokens":' + b"[" * 100_000 + b"]" * 100_000 + b"}", Reason.SYNTAX),
]

BAD_MSGPACK: list[tuple[bytes, Reason]] = [
    (b"", Reason.SYNTAX),
    (b"\xc1", Reason.SYNTAX),
    (msgpack.packb({"tokens": ["a"]}) + b"\xc0", Reason.SYNTAX),
    (msgpack.packb({"tokens": ["a"]})[:-1], Reason.SYNTAX),
    (b"\x81\xa6tokens\x91\xa1\xff", Reason.ENCODING),
    (b"\x82\xa6tokens\x91\xa1a\xa6tokens\x91\xa1b", Reason.DUPLICATE_KEY),
    (msgpack.packb({"tokens": [b"a"]}), Reason.TYPE),
    (msgpack.packb({"columns": {b"w": ["a"]}}), Reason.TYPE),
    (msgpack.packb({1: 2, "tokens": ["a"]}), Reason.SYNTAX),
    (msgpack.packb({"tokens": msgpack.ExtType(5, b"a")}), Reason.TYPE),
    (msgpack.packb({"tokens": ["a"], "weight": math.nan}), Reason.NOT_FINITE),
    (msgpack.packb({"features": [{"x": math.inf}]}), Reason.NOT_FINITE),
    (b"\x91" * 100_000, Reason.SYNTAX),
    (b"\xdd\xff\xff\xff\xff", Reason.SYNTAX),
]

names = st.text(max_size=3)
columns_of = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        st.dictionaries(names, st.lists(st.text(max_size=4), min_size=n, max_size=n), min_size=1, max_size=3),
        st.none() | st.lists(st.text(min_size=1, max_size=4), min_size=n, max_size=n),
    )
)
finite = st.floats(allow_nan=False, allow_infinity=False)
features = st.lists(st.lists(names, max_size=3), min_size=1, max_size=3) | st.lists(
    st.dictionaries(names, finite, max_size=3), min_size=1, max_size=3
)
extras = {"id": st.none() | st.text(max_size=5), "weight": st.floats(1e-300, 1e300)}
examples = st.one_of(
    columns_of.flatmap(lambda c: st.builds(Example, st.just(c[0]), st.just(c[1]), **extras)),
    features.flatmap(lambda f: st.builds(Example, st.just({}), st.none(), st.just(f), **extras)),
)
# Values that are nearly records, so that the checks are reached.
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | finite | names
loose = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
)
strings = st.lists(names, max_size=2)
nearly = st.dictionaries(names, strings, max_size=2)
near_records = st.fixed_dictionaries(
    {},
    optional={
        "tokens": loose | strings,
        "columns": loose | nearly,
        "features": loose
        | st.lists(nearly | strings | st.dictionaries(names, scalars, max_size=2), max_size=2),
        "labels": loose | strings,
        "weight": scalars,
        "id": scalars | st.just(7.0),
    },
)


def refused(call: Callable[[], object]) -> RecordError:
    with pytest.raises(RecordError) as caught:
        call()
    assert "\n" not in str(caught.value)
    str(caught.value).encode()
    return caught.value


def outcome(value: bytes, content_type: ContentType | Literal["auto"]) -> Reason | None:
    """Return the reason of refusal, or None; any other exception escapes."""
    try:
        RecordCodec(content_type, require_labels=False).decode_value(value)
    except RecordError as error:
        str(error).encode()
        return error.reason
    return None


@pytest.mark.parametrize("content_type", FORMATS)
@pytest.mark.parametrize(("payload", "example"), GOOD)
def test_good_records_are_read_and_pass_the_schema(
    payload: dict[str, Any], example: Example, content_type: ContentType
) -> None:
    assert decode(PACK[content_type](payload), content_type) == example
    VALIDATOR.validate(payload)


@pytest.mark.parametrize("content_type", FORMATS)
@pytest.mark.parametrize(("payload", "reason", "message"), BAD + BAD_BEYOND_SCHEMA)
def test_bad_records_are_refused_with_reason_and_place(
    payload: Any, reason: Reason, message: str, content_type: ContentType
) -> None:
    error = refused(lambda: decode(PACK[content_type](payload), content_type))
    assert (error.reason, str(error)) == (reason, message)


@pytest.mark.parametrize("payload", [payload for payload, _, _ in BAD])
def test_the_schema_refuses_what_a_schema_can_say(payload: Any) -> None:
    assert not VALIDATOR.is_valid(payload)


@given(near_records)
def test_codec_and_schema_agree(payload: dict[str, Any]) -> None:
    reason = outcome(PACK["json"](payload), "json")
    if reason not in (Reason.LENGTH, Reason.DUPLICATE_KEY):
        assert VALIDATOR.is_valid(payload) == (reason is None)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(("value", "reason"), BAD_JSON)
def test_hostile_json_is_refused_by_reason(value: bytes, reason: Reason) -> None:
    assert refused(lambda: decode(value, "json")).reason == reason


@pytest.mark.parametrize(("value", "reason"), BAD_MSGPACK)
def test_hostile_msgpack_is_refused_by_reason(value: bytes, reason: Reason) -> None:
    assert refused(lambda: decode(value, "msgpack")).reason == reason


def test_a_surrogate_pair_is_a_character() -> None:
    assert decode(b'{"tokens":["\\ud83d\\ude00"]}', "json").columns == {"tokens": ["\U0001f600"]}


def test_a_tombstone_is_refused() -> None:
    assert refused(lambda: RecordCodec().decode_value(None)).reason == Reason.TOMBSTONE


@given(examples, st.sampled_from(FORMATS))
def test_encoding_and_decoding_gives_the_same_example(example: Example, content_type: ContentType) -> None:
    assert decode(encode(example, content_type), content_type) == example


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_refused(value: bytes) -> None:
    for content_type in (*FORMATS, "auto"):
        outcome(value, content_type)


@given(examples, st.sampled_from(FORMATS), st.data())
def test_damaged_records_are_read_or_refused(
    example: Example, content_type: ContentType, data: st.DataObject
) -> None:
    value = bytearray(encode(example, content_type))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(value)))
        value[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    outcome(bytes(value), content_type)


@given(near_records, st.sampled_from(FORMATS))
def test_nested_values_are_read_or_refused(payload: dict[str, Any], content_type: ContentType) -> None:
    outcome(PACK[content_type](payload), content_type)


def record(value: bytes | None, *headers: tuple[str, bytes | None]) -> Any:
    return SimpleNamespace(value=value, headers=list(headers))


@pytest.mark.parametrize(
    ("header", "content_type"),
    [
        (b"application/json", "json"),
        (b"Application/JSON; charset=utf-8", "json"),
        (b"application/msgpack", "msgpack"),
        (b"application/x-msgpack;v=1", "msgpack"),
        (b"application/vnd.msgpack", "msgpack"),
    ],
)
def test_the_header_says_the_content_type(header: bytes, content_type: ContentType) -> None:
    codec = RecordCodec(require_labels=False)
    value = PACK[content_type]({"tokens": ["a"]})
    assert codec.decode_record(record(value, ("Content-Type", header))).columns == {"tokens": ["a"]}


def test_the_last_header_counts_and_a_null_one_does_not() -> None:
    codec = RecordCodec(require_labels=False)
    headers = [("content-type", b"text/plain"), ("content-type", b"application/json"), ("content-type", None)]
    assert codec.decode_record(record(b'{"tokens":["a"]}', *headers)).columns


def test_an_unknown_content_type_is_refused() -> None:
    error = refused(lambda: RecordCodec().decode_record(record(b"{}", ("content-type", b"avro/\xff\n"))))
    assert error.reason == Reason.CONTENT_TYPE


def test_a_configured_content_type_overrides_the_header() -> None:
    codec = RecordCodec("json", require_labels=False)
    assert codec.decode_record(record(b'{"tokens":["a"]}', ("content-type", b"text/plain"))).columns


@pytest.mark.parametrize("content_type", FORMATS)
def test_without_a_header_the_first_byte_decides(content_type: ContentType) -> None:
    payload = {f"key {n}": n for n in range(20)} | {"tokens": ["a"]}
    assert RecordCodec(require_labels=False).decode_value(PACK[content_type](payload)).columns


def test_labels_are_required_where_the_codec_says_so() -> None:
    assert refused(lambda: RecordCodec().decode_value(b'{"tokens":["a"]}')).reason == Reason.MISSING_LABELS


@pytest.mark.parametrize("limits", [{"max_tokens": 2}, {"max_bytes": 10}])
def test_too_large_is_refused(limits: dict[str, int]) -> None:
    codec = RecordCodec(require_labels=False, **limits)
    assert refused(lambda: codec.decode_value(b'{"tokens":["a","b","c"]}')).reason == Reason.TOO_LARGE


def test_limits_themselves_are_allowed() -> None:
    value = b'{"tokens":["a","b"]}'
    assert RecordCodec(require_labels=False, max_tokens=2, max_bytes=len(value)).decode_value(value)


def test_json_may_begin_with_a_byte_order_mark() -> None:
    value = b'{"tokens": ["a"], "labels": ["O"]}'
    for codec in (RecordCodec("json"), RecordCodec("auto")):
        assert codec.decode_value(b"\xef\xbb\xbf" + value) == codec.decode_value(value)


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (
            b'\x00\x00\x00\x00\x07{"tokens": ["a"]}',
            "frame of a Confluent schema registry .byte 0, schema id 7.",
        ),
        (b"\x00\x00\x00\x00\x07\x06abc", "plain JSON or msgpack, without a registry's serializer"),
        (b"\x1f\x8b\x08\x00", "compressed with gzip; set compression.type"),
        ('{"tokens": ["a"]}'.encode("utf-16"), "UTF-16, wanted UTF-8"),
        (b"Obj\x01\x04", "an Avro file"),
    ],
)
def test_values_of_other_formats_are_named(value: bytes, meaning: str) -> None:
    with pytest.raises(RecordError, match=meaning):
        RecordCodec("auto").decode_value(value)


def test_a_record_is_kept_only_where_it_is_to_be_written_again() -> None:
    value = b'{"id": 7, "tokens": ["a"], "ts": 1, "more": {"x": null}}'
    kept = RecordCodec("json", require_labels=False, keep_record=True).decode_value(value)
    plain = RecordCodec("json", require_labels=False).decode_value(value)
    assert kept == plain
    assert (kept.record, plain.record) == (json.loads(value), None)
