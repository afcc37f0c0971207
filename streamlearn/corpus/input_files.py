"""Opening files and standard input: compression, byte order marks, progress, lines of bounded length."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

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
# Unpacked as a whole, into 128 KB for every 4 bytes at most: bounds memory.
_ZSTD_BYTES = 512
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
# What reading a damaged or truncated compressed file raises, besides OSError and EOFError.
DAMAGED = (zlib.error, lzma.LZMAError, zstandard.ZstdError)
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
    """Open a file, compressed or not, or standard input for "-", which stays open afterwards.

    Gzip, bzip2, xz and Zstandard are recognized by their first bytes, whatever the name.

    Raises
    ------
    UsageError : it cannot be opened.
    """
    with ExitStack() as stack:
        try:
            source = sys.stdin.buffer if path == STDIN else stack.enter_context(Path(path).open("rb"))
            stream: io.BufferedReader[Any] = io.BufferedReader(_Counted(source, count), _BUFFER_BYTES)
            if (unpacked := _unpacked(stream)) is not None:
                stream = io.BufferedReader(unpacked, _BUFFER_BYTES)
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
        yield stream


def without_compression(name: str) -> str:
    """Return the name of a file without the suffix of a compression, in lower case.

    >>> without_compression("Train.JSONL.zst")
    'train.jsonl'
    """
    name = name.lower()
    return next((name.removesuffix(end) for end in _COMPRESSED_SUFFIXES if name.endswith(end)), name)


def _unpacked(stream: io.BufferedReader) -> Any:
    """Return what reads the content of a compressed stream; None if it is not compressed."""
    head = stream.peek(6)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream, mode="rb")
    if head.startswith(b"BZh"):
        return bz2.BZ2File(stream)
    if head.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(stream)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _ZstdFile(stream)
    return None


class _ZstdFile(io.RawIOBase):
    """Reads Zstandard frames, one after the other; the library alone takes a truncated frame for the end."""

    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            packed = self._frame.unused_data if self._frame.eof else b""
            packed = packed or self._source.read1(_ZSTD_BYTES)
            if not packed:
                if not self._frame.eof:
                    raise EOFError("the file is truncated")
                return 0
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._ready = memoryview(self._frame.decompress(packed))
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


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
