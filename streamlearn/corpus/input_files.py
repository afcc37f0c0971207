"""Opening files and standard input: gzip, byte order marks, progress, lines of bounded length."""

import codecs
import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from streamlearn.errors import UsageError

STDIN = "-"

_BUFFER_BYTES = 1 << 16
# The longest mark first: that of UTF-32 starts with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1b")


class _Counted(io.RawIOBase):
    """Counts the bytes read: progress in a compressed file is measured in compressed bytes."""

    def __init__(self, source: BinaryIO, count: Callable[[int], None]) -> None:
        self._source: Any = source
        self._count = count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # At most one system call, so that lines that are typed or piped in are seen as they arrive.
        read = getattr(self._source, "readinto1", self._source.readinto)
        size: int = read(buffer) or 0
        self._count(size)
        return size


def require_readable(path: str) -> None:
    """Check, before any work starts, that a file exists and is readable.

    Raises
    ------
    UsageError : with the path and the reason.
    """
    if path == STDIN:
        return
    if Path(path).is_dir():
        raise UsageError(f"{path}: cannot be read: it is a directory")
    if not os.access(path, os.R_OK):
        reason = "no permission" if Path(path).exists() else "no such file"
        raise UsageError(f"{path}: cannot be read: {reason}")


@contextmanager
def open_input(path: str, count: Callable[[int], None]) -> Iterator[io.BufferedReader]:
    """Open a file, gzipped or not, or standard input for "-", which stays open afterwards.

    Raises
    ------
    UsageError : it cannot be opened.
    """
    with ExitStack() as stack:
        try:
            source = sys.stdin.buffer if path == STDIN else stack.enter_context(Path(path).open("rb"))
            stream: io.BufferedReader[Any] = io.BufferedReader(_Counted(source, count), _BUFFER_BYTES)
            if stream.peek(2)[:2] == b"\x1f\x8b":
                unpacked = gzip.GzipFile(fileobj=stream, mode="rb")
                stream = io.BufferedReader(unpacked, _BUFFER_BYTES)
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
        yield stream


def detect_encoding(path: str, head: bytes) -> str:
    """Return the encoding of a file from its first bytes: that of the byte order mark, else UTF-8.

    Raises
    ------
    UsageError : the bytes are not text.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if 10 * sum(map(_CONTROLS.__contains__, head)) > len(head):
        raise UsageError(f"{path}: not a text file: binary, or UTF-16 without a byte order mark")
    return "utf-8"


def text_lines(stream: io.BufferedReader, encoding: str, max_chars: int) -> Iterator[str]:
    """Yield lines with their ends, cut off at `max_chars`; undecodable bytes become lone surrogates."""
    text = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="")
    try:
        for line in iter(partial(text.readline, max_chars), ""):
            yield line
            if len(line) == max_chars:
                _skip_line(partial(text.readline, max_chars), line)
    finally:
        # Otherwise the wrapper would close the stream, which it does not own.
        text.detach()


def byte_lines(stream: io.BufferedReader, max_bytes: int) -> Iterator[bytes]:
    """Yield lines with their ends, cut off at `max_bytes`."""
    for line in iter(partial(stream.readline, max_bytes), b""):
        yield line
        if len(line) == max_bytes:
            _skip_line(partial(stream.readline, max_bytes), line)


def _skip_line(read: Callable[[], Any], line: Any) -> None:
    while line and line[-1:] not in ("\n", "\r", b"\n"):
        line = read()
