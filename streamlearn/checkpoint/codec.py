"""Encoding a state tree as bytes and decoding it: self-describing, no pickle, safe on untrusted input.

Layout, all integers little-endian::

    0                   magic, 8 bytes
    8                   format version u32, reserved u32 (0), header length u64, data length u64
    32                  xxh3_128 of bytes 0-31 and of the header
    48                  header: two msgpack values, the segment table and the tree
    …                   data, 64-byte aligned: the arrays, each 64-byte aligned, zero padding between
    last 24 bytes       xxh3_128 of everything before, end magic (8 bytes)

A segment is `[name, dtype, shape, offset, nbytes]`, `offset` counted from the start of the data. The tree
holds ext type 1 (u32, number of the segment) in place of each array.

Bytes 0-47 and the last 24 keep their meaning in every version, so that damage (`CorruptError`) and a file of
another release (`FormatVersionError`) are never confused.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

import msgpack
import numpy as np
import xxhash

from streamlearn.checkpoint.segment import Array, Segment, blocks, padding, parse_segments, place
from streamlearn.errors import CheckpointError

FORMAT_VERSION = 1
HEADER_START = 48

# A tree of dict (str keys), list, str, int, float, bool, None and bytes that may contain arrays anywhere.
State: TypeAlias = dict[str, Any]
Buffer: TypeAlias = bytes | bytearray | memoryview

_MAGIC = b"\x89SLCP\r\n\x1a"
_END_MAGIC = b"PCLSEND\n"
_PREFIX = struct.Struct("<8sIIQQ")
_REFERENCE = struct.Struct("<I")
_DIGEST_BYTES = 16
_FOOTER_BYTES = _DIGEST_BYTES + len(_END_MAGIC)
# For each chunk a background writer waits twice for the interpreter lock, up to 5 ms if other threads are
# busy.
_CHUNK_BYTES = 8 << 20
_MAX_HEADER_BYTES = 256 << 20
_MAX_DEPTH = 64
_ARRAY_REFERENCE = 1


class CorruptError(CheckpointError):
    """The bytes are damaged, truncated, or not a checkpoint."""


class FormatVersionError(CheckpointError):
    """An intact checkpoint of another format version."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file; `state` holds a `Segment` in place of each array."""

    format_version: int
    state: State
    segments: list[Segment]
    size_bytes: int


class EncodedState:
    """A state about to be written: `size_bytes` is known at once, iterating yields the bytes in order.

    Arrays are read while iterating, and copied in parts only if they are not contiguous and little-endian.
    """

    def __init__(self, state: State) -> None:
        self._segments: list[Segment] = []
        self._arrays: list[Array] = []
        self._data_bytes = 0
        tree = self._plain(state, "", _MAX_DEPTH)
        packed = [msgpack.packb(part, unicode_errors="surrogatepass") for part in (self._segments, tree)]
        header = b"".join(packed)
        if len(header) > _MAX_HEADER_BYTES:
            raise CheckpointError(
                f"state: {len(header)} bytes outside of arrays, wanted at most {_MAX_HEADER_BYTES}; store "
                "large byte strings as uint8 arrays"
            )
        prefix = _PREFIX.pack(_MAGIC, FORMAT_VERSION, 0, len(header), self._data_bytes)
        head = prefix + _digest(prefix, header) + header
        self._head = head + bytes(padding(len(head)))
        self.size_bytes = len(self._head) + self._data_bytes + _FOOTER_BYTES

    def __iter__(self) -> Iterator[bytes | memoryview]:
        digest = xxhash.xxh3_128()
        for chunk in self._chunks():
            digest.update(chunk)
            yield chunk
        yield digest.digest() + _END_MAGIC

    def _chunks(self) -> Iterator[bytes | memoryview]:
        yield self._head
        for segment, array in zip(self._segments, self._arrays, strict=True):
            for block in blocks(array, _CHUNK_BYTES):
                yield block.astype(segment.dtype, copy=False).reshape(-1).view(np.uint8).data
            yield bytes(padding(segment.nbytes))

    def _plain(self, node: Any, path: str, depth: int) -> Any:
        if node is None or isinstance(node, str | bytes | float):
            return node
        if isinstance(node, int) and -(2**63) <= node < 2**64:
            return node
        if isinstance(node, np.ndarray):
            return self._add_segment(node, path)
        if depth == 0:
            raise CheckpointError(f"{path[:80]}…: nested deeper than {_MAX_DEPTH} levels")
        if isinstance(node, dict) and all(isinstance(key, str) for key in node):
            return {key: self._plain(value, _join(path, key), depth - 1) for key, value in node.items()}
        if isinstance(node, list):
            return [self._plain(value, _join(path, str(i)), depth - 1) for i, value in enumerate(node)]
        raise CheckpointError(
            f"{path or 'state'}: cannot write {type(node).__name__} {node!r:.60}; wanted dict with str keys, "
            "list, str, bytes, float, bool, None, 64-bit int or array"
        )

    def _add_segment(self, array: Array, path: str) -> msgpack.ExtType:
        try:
            segment = place(path, array, self._data_bytes)
        except TypeError as error:
            raise CheckpointError(str(error)) from error
        self._segments.append(segment)
        self._arrays.append(array)
        self._data_bytes += array.nbytes + padding(array.nbytes)
        return msgpack.ExtType(_ARRAY_REFERENCE, _REFERENCE.pack(len(self._segments) - 1))


def encode(state: State) -> EncodedState:
    """Return the bytes of `state` in chunks, with their total size known in advance.

    Raises
    ------
    CheckpointError : the tree contains something other than plain data and numeric arrays; says where.

    Examples
    --------
    >>> encoded = encode({"model": {"weights": np.zeros((2, 3))}, "labels": ["B", "I"]})
    >>> data = b"".join(encoded)
    >>> len(data) == encoded.size_bytes
    True
    >>> decode(data)["model"]["weights"].shape
    (2, 3)
    """
    return EncodedState(state)


def decode(buffer: Buffer) -> State:
    """Verify the checksum of a whole file and return its tree.

    The arrays are views into `buffer`: writable if it is, and they keep it alive. No other memory of the size
    of the file is allocated.

    Raises
    ------
    CorruptError, FormatVersionError
    """
    view = memoryview(buffer).cast("B")
    header_end = HEADER_START + check_layout(view[:HEADER_START], len(view))
    footer_start = len(view) - _FOOTER_BYTES
    if view[footer_start:] != _digest(view[:footer_start]) + _END_MAGIC:
        raise CorruptError("checksum does not match: the file is damaged")
    header = _parse_header(view[:HEADER_START], view[HEADER_START:header_end], len(view))
    data = np.frombuffer(view, np.uint8)[header_end + padding(header_end) : footer_start]
    state: State = _map_segments(header.state, lambda segment: segment.read(data))
    return state


def read_header(file: BinaryIO) -> Header:
    """Read the part before the arrays, and verify only that part.

    Raises
    ------
    CorruptError, FormatVersionError
    """
    size_bytes = file.seek(0, 2)
    file.seek(0)
    head = file.read(HEADER_START)
    header_bytes = check_layout(head, size_bytes)
    return _parse_header(head, file.read(header_bytes), size_bytes)


def check_layout(head: bytes | memoryview, size_bytes: int) -> int:
    """Return the length of the header, after checking `size_bytes` against it.

    `head` is the first `HEADER_START` bytes of the file. After this check, it is safe to
    allocate `size_bytes`: the file really has that size.

    Raises
    ------
    CorruptError
    """
    if len(head) < HEADER_START:
        raise CorruptError(f"{size_bytes} bytes are too few for a checkpoint, wanted {HEADER_START} or more")
    magic, _, _, header_bytes, data_bytes = _PREFIX.unpack(head[: _PREFIX.size])
    if magic != _MAGIC:
        raise CorruptError("not a checkpoint, or its beginning is damaged")
    if header_bytes > _MAX_HEADER_BYTES:
        raise CorruptError(
            f"header of {header_bytes} bytes, wanted at most {_MAX_HEADER_BYTES}: the file is damaged"
        )
    header_end = HEADER_START + header_bytes
    wanted_bytes = header_end + padding(header_end) + data_bytes + _FOOTER_BYTES
    if size_bytes != wanted_bytes:
        raise CorruptError(f"{size_bytes} bytes, wanted {wanted_bytes}: the file is truncated or damaged")
    return int(header_bytes)


def _parse_header(head: bytes | memoryview, packed: bytes | memoryview, size_bytes: int) -> Header:
    _, version, reserved, _, data_bytes = _PREFIX.unpack(head[: _PREFIX.size])
    if _digest(head[: _PREFIX.size], packed) != head[_PREFIX.size : HEADER_START]:
        raise CorruptError("checksum of the header does not match: the file is damaged")
    if version != FORMAT_VERSION:
        raise FormatVersionError(
            f"format version {version}, this release reads {FORMAT_VERSION}; use the release that wrote it"
        )
    if reserved:
        raise CorruptError(f"reserved bytes hold {reserved}, wanted 0")
    try:
        reader = _HeaderReader(packed)
        segments = parse_segments(reader.read(), data_bytes)
        state = reader.read(segments)
        reader.finish()
    except (ValueError, TypeError, IndexError, OverflowError, struct.error, msgpack.UnpackException) as error:
        raise CorruptError(f"header cannot be decoded: {error}") from error
    if not isinstance(state, dict):
        raise CorruptError(f"header holds {type(state).__name__}, wanted dict")
    return Header(version, state, segments, size_bytes)


class _HeaderReader:
    """Unpacks value by value, so that no claimed length is trusted before its elements have been read.

    msgpack's own `unpackb` would allocate each claimed length at each level of nesting.
    """

    def __init__(self, packed: bytes | memoryview) -> None:
        self._packed = packed
        self._unpacker = msgpack.Unpacker(
            max_buffer_size=max(len(packed), 1), unicode_errors="surrogatepass", strict_map_key=False
        )
        self._unpacker.feed(packed)

    def read(self, segments: list[Segment] | None = None, depth: int = _MAX_DEPTH + 1) -> Any:
        if depth == 0:
            raise ValueError(f"nested deeper than {_MAX_DEPTH}")
        code = self._packed[self._unpacker.tell()]
        if 0x90 <= code <= 0x9F or code in (0xDC, 0xDD):
            return [self.read(segments, depth - 1) for _ in range(self._unpacker.read_array_header())]
        if 0x80 <= code <= 0x8F or code in (0xDE, 0xDF):
            count = self._unpacker.read_map_header()
            return {self._read_key(depth - 1): self.read(segments, depth - 1) for _ in range(count)}
        value = self._unpacker.unpack()
        if isinstance(value, msgpack.ExtType | msgpack.Timestamp):
            return _resolve(value, segments)
        return value

    def finish(self) -> None:
        if self._unpacker.tell() != len(self._packed):
            raise ValueError("bytes after its end")

    def _read_key(self, depth: int) -> str:
        key = self.read(depth=depth)
        if not isinstance(key, str):
            raise TypeError(f"key of type {type(key).__name__}")
        return key


def _resolve(value: Any, segments: list[Segment] | None) -> Segment:
    if segments is None or not isinstance(value, msgpack.ExtType) or value.code != _ARRAY_REFERENCE:
        raise ValueError("unknown extension type")
    (number,) = _REFERENCE.unpack(value.data)
    return segments[int(number)]


def _map_segments(node: Any, make: Callable[[Segment], Array]) -> Any:
    if isinstance(node, Segment):
        return make(node)
    if isinstance(node, dict):
        return {key: _map_segments(value, make) for key, value in node.items()}
    if isinstance(node, list):
        return [_map_segments(value, make) for value in node]
    return node


def _digest(*parts: bytes | memoryview) -> bytes:
    digest = xxhash.xxh3_128()
    for part in parts:
        digest.update(part)
    return digest.digest()


def _join(path: str, key: str) -> str:
    return f"{path}/{key}" if path else key
