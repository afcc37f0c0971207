"""Segments: the location of each array in the data of a checkpoint."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_ALIGNMENT = 64
_MAX_DIMENSIONS = 32
# Portable number types: no objects, long double, text or records.
_DTYPES = frozenset(
    np.dtype(kind).newbyteorder("<").str
    for kind in (
        *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
    )
)


class Segment(NamedTuple):
    """Name, type and location of an array; takes its place in a tree whose arrays are not loaded."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int

    def read(self, data: Array) -> Array:
        """Return the array as a view into `data` (uint8[N], the data part of the file)."""
        return data[self.offset : self.offset + self.nbytes].view(self.dtype).reshape(self.shape)


def place(name: str, array: Array, offset: int) -> Segment:
    """Return the segment of `array` at `offset`.

    Raises
    ------
    TypeError : a dtype that is not numeric or not portable, or too many dimensions.
    """
    if array.ndim > _MAX_DIMENSIONS:
        raise TypeError(f"{name}: array of {array.ndim} dimensions, wanted at most {_MAX_DIMENSIONS}")
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in _DTYPES:
        raise TypeError(f"{name}: array of dtype {array.dtype}, wanted a numeric one up to 64-bit parts")
    return Segment(name, dtype, array.shape, offset, array.nbytes)


def blocks(array: Array, nbytes: int) -> Iterator[Array]:
    """Yield C-contiguous parts of about `nbytes` along the first axis, in order."""
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
        step = max(1, nbytes // max(1, array.itemsize))
        yield from (flat[at : at + step] for at in range(0, flat.size, step))
        return
    step = max(1, nbytes // max(1, array.nbytes // len(array)))
    yield from (np.ascontiguousarray(array[at : at + step]) for at in range(0, len(array), step))


def parse_segments(table: Any, data_bytes: int) -> list[Segment]:
    """Return the segments of a table read from a file, after checking that they fill `data_bytes` exactly.

    Raises
    ------
    ValueError, TypeError : the table is malformed, or its arrays overlap or leave gaps.
    """
    segments = []
    offset = 0
    for name, dtype, shape, claimed_offset, claimed_nbytes in table:
        if not isinstance(name, str) or dtype not in _DTYPES:
            raise ValueError(f"segment {name!r:.80} of dtype {dtype!r:.20}")
        nbytes = _nbytes(shape, np.dtype(dtype).itemsize)
        if (claimed_offset, claimed_nbytes) != (offset, nbytes):
            raise ValueError(f"segment {name!r:.80} does not start where the arrays before it end")
        segments.append(Segment(name, dtype, tuple(shape), offset, nbytes))
        offset += nbytes + padding(nbytes)
    if offset != data_bytes:
        raise ValueError(f"segments take {offset} bytes, but the data has {data_bytes}")
    return segments


def padding(nbytes: int) -> int:
    """Return the number of bytes from `nbytes` to the next aligned offset."""
    return -nbytes % _ALIGNMENT


def _nbytes(shape: list[int], itemsize: int) -> int:
    if len(shape) > _MAX_DIMENSIONS or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"shape {shape!r:.80}")
    # numpy limits the product of the dimensions that are not zero, even if another one is.
    if math.prod(max(n, 1) for n in shape) * itemsize >= 2**63:
        raise ValueError(f"shape {shape!r:.80} is larger than any array")
    return math.prod(shape) * itemsize
