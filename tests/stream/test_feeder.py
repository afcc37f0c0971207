from collections.abc import Sequence

import pytest

from streamlearn.data import Example
from streamlearn.errors import UsageError
from streamlearn.stream.feeder import Feeder, RateLimit
from streamlearn.stream.record_codec import ContentType, RecordCodec, decode

EXAMPLES = [
    Example({"w": ["a", "b"], "doc": ["x", "x"]}, ["O", "B"], id="é"),
    Example({"w": ["c"], "doc": ["y"]}, ["O"], weight=2.0),
]


class Memory:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.records: list[tuple[bytes | None, bytes | None, Sequence[tuple[str, bytes]]]] = []

    def send(self, key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes]] = ()) -> None:
        self.records.append((key, value, headers))


def feed(key: str = "id", content_type: ContentType = "json") -> tuple[Memory, Feeder]:
    sink = Memory()
    feeder = Feeder(sink, content_type, key)
    feeder.feed(EXAMPLES, RateLimit(None), lambda: None)
    return sink, feeder


@pytest.mark.parametrize("content_type", ["json", "msgpack"])
def test_records_say_how_they_are_encoded(content_type: ContentType) -> None:
    sink, feeder = feed(content_type=content_type)
    assert [decode(value, content_type) for _, value, _ in sink.records] == EXAMPLES
    for (_, value, headers), example in zip(sink.records, EXAMPLES, strict=True):
        assert headers == [("content-type", f"application/{content_type}".encode())]
        assert RecordCodec("auto").decode_value(value, headers) == example
    sizes = sum(len(value or b"") for _, value, _ in sink.records)
    assert (feeder.sequences, feeder.tokens, feeder.value_bytes) == (2, 3, sizes)


@pytest.mark.parametrize(
    ("key", "keys"), [("id", ["é".encode(), b"1"]), ("none", [None, None]), ("doc", [b"x", b"y"])]
)
def test_keys(key: str, keys: list[bytes | None]) -> None:
    assert [key for key, _, _ in feed(key)[0].records] == keys


def test_a_key_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no column 'user' to use as key; the sequence has: w, doc"):
        feed("user")


def test_a_pace_is_kept_and_stalls_are_made_good() -> None:
    now, slept = 100.0, []

    def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += seconds

    rate_limit = RateLimit(2.0, lambda: now, sleep)
    now += 50
    for _ in range(3):
        rate_limit.wait()
    assert slept == [0.5, 0.5]
    now += 1.0
    for _ in range(3):
        rate_limit.wait()
    assert slept == [0.5, 0.5, 0.5]
