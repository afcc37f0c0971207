"""Joining batches that were encoded piece by piece, and cutting them.

The strings of a small piece fit the first caches, and are freed before the next piece is read; parsing and
encoding a whole batch of Python strings at once takes twice the time.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Batch

PIECE = 64


def joined(pieces: Sequence[Batch]) -> Batch:
    """Return one batch with all sequences of one or more, in order."""
    if len(pieces) == 1:
        return pieces[0]
    values = [piece.attribute_values for piece in pieces]
    if any(part.size for part in values):
        # No values mean that all are 1.
        values = [
            part if part.size else np.ones(len(p.attributes)) for part, p in zip(values, pieces, strict=True)
        ]
    return Batch(
        starts=_joined_starts([piece.starts for piece in pieces]),
        values=np.concatenate([piece.values for piece in pieces]),
        attributes=np.concatenate([piece.attributes for piece in pieces]),
        attribute_starts=_joined_starts([piece.attribute_starts for piece in pieces]),
        attribute_values=np.concatenate(values),
        labels=np.concatenate([piece.labels for piece in pieces]),
        labels_known=np.concatenate([piece.labels_known for piece in pieces]),
        importance=np.concatenate([piece.importance for piece in pieces]),
        evidence=np.concatenate([piece.evidence for piece in pieces]),
        names_known=pieces[-1].names_known,
    )


def cut(batch: Batch, places: Sequence[int]) -> list[Batch]:
    """Cut a batch before the sequences with these ascending numbers; the inverse of `joined`."""
    edges = [0, *places, len(batch.importance)]
    return [_part(batch, first, last) for first, last in pairwise(edges)] if places else [batch]


def _part(batch: Batch, first: int, last: int) -> Batch:
    begin, end = batch.starts[first], batch.starts[last]
    low, high = batch.attribute_starts[begin], batch.attribute_starts[end]
    return Batch(
        starts=batch.starts[first : last + 1] - begin,
        values=batch.values[begin:end],
        attributes=batch.attributes[low:high],
        attribute_starts=batch.attribute_starts[begin : end + 1] - low,
        attribute_values=batch.attribute_values[low:high],
        labels=batch.labels[begin:end],
        labels_known=batch.labels_known[first:last],
        importance=batch.importance[first:last],
        evidence=batch.evidence[first:last],
        names_known=batch.names_known,
    )


def _joined_starts(parts: Sequence[NDArray[np.int64]]) -> NDArray[Any]:
    """Join lists of boundaries, each of which begins with 0."""
    lengths = np.concatenate([np.diff(part) for part in parts])
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
