from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.errors import CheckpointError
from streamlearn.stream.deadletters.dead_letter import DeadLetter
from streamlearn.stream.deadletters.spool import Spool, read_spool
from tests.stream.memory import MemoryRecord

HEADERS = [("content-type", b"application/json"), ("raw", b"\xff\x00")]


def record(
    value: bytes | None = b"\xff{",
    headers: list[tuple[str, bytes]] | None = None,
    key: bytes | None = b"\x00k",
) -> MemoryRecord:
    return MemoryRecord("orders", 3, 1841, 1_700_000_000_000, key, value, headers or HEADERS)


def letter(
    message: str = "not UTF-8", value: bytes | None = b"\xff{", key: bytes | None = b"\x00k"
) -> DeadLetter:
    return DeadLetter.of(record(value, key=key), "encoding", message, "np", "0.1.0")


def test_bytes_and_headers_stay_and_the_error_comes_after_them() -> None:
    found = letter()
    assert (found.key, found.value) == (b"\x00k", b"\xff{")
    assert found.error_headers() == [
        *HEADERS,
        ("streamlearn.error.topic", b"orders"),
        ("streamlearn.error.partition", b"3"),
        ("streamlearn.error.offset", b"1841"),
        ("streamlearn.error.timestamp", b"1700000000000"),
        ("streamlearn.error.reason", b"encoding"),
        ("streamlearn.error.message", b"not UTF-8"),
        ("streamlearn.error.model", b"np"),
        ("streamlearn.error.version", b"0.1.0"),
    ]


def test_a_letter_in_a_topic_is_read_back() -> None:
    for value in (b"\xff{", b"", None):
        sent = letter(value=value)
        there = MemoryRecord("dead", 0, 7, 1, sent.key, sent.value, sent.error_headers())
        assert DeadLetter.from_record(there) == sent


def test_a_record_without_key_and_value_is_read_back_though_its_key_is_sent_as_empty() -> None:
    sent = letter(value=None, key=None)
    assert DeadLetter.from_record(MemoryRecord("dead", 0, 7, 1, b"", None, sent.error_headers())) == sent
    assert DeadLetter.from_line(sent.to_line()) == sent


def test_a_record_that_is_no_dead_letter_is_none() -> None:
    assert DeadLetter.from_record(record()) is None
    broken = [*letter().error_headers()[:-6], ("streamlearn.error.offset", b"x")]
    assert DeadLetter.from_record(record(headers=broken)) is None


@given(st.text(max_size=700))
def test_a_long_message_loses_its_end_at_a_whole_character(message: str) -> None:
    message = message.encode(errors="ignore").decode()
    short = letter(message).message
    assert len(short.encode()) <= 512
    assert message.startswith(short)
    assert short == message or len(short.encode()) > 508


def test_a_spool_keeps_what_was_appended_in_order(tmp_path: Path) -> None:
    path = tmp_path / "letters"
    assert list(read_spool(path)) == []
    Spool(path).append([letter("one"), letter("two", None)])
    Spool(path).append([letter("three", bytes(range(256)))])
    assert list(read_spool(path)) == [letter("one"), letter("two", None), letter("three", bytes(range(256)))]


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_line_that_a_crash_cut_off_hurts_no_other(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "letters"
    Spool(path).append([letter("one")])
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept])
    Spool(path).append([letter("two")])
    found = [each.message for each in read_spool(path)]
    # All but its line break is still a letter; it is told once by whoever lists them.
    assert found == (["one", "one", "two"] if kept == -1 else ["one", "two"])


def test_a_full_disk_is_reported() -> None:
    with pytest.raises(CheckpointError, match="cannot write dead letters: No space left"):
        Spool(Path("/dev/full")).append([letter()])
