"""How the name of a label is read and written: the mark of a scheme, and the type of the span that it marks.

The mark comes first (``B-PER``) or last (``PER-B``), next to ``-`` or ``_``, or alone (``B``). Where a name
can be read in both ways (``B-S``), the other names decide.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from streamlearn.kernels.spans import MARKS, SpanMarks

_PREFIXED = re.compile(r"([BIOESMLU])(?:([-_])(.*))?", re.DOTALL)
_SUFFIXED = re.compile(r"(?:(.*)([-_]))?([BIOESMLU])", re.DOTALL)


class LabelName(NamedTuple):
    """A name that belongs to a scheme.

    Attributes
    ----------
    mark : one of BIOESMLU.
    type : of the span; may be empty.
    separator : between the two; empty if the name is the mark alone.
    is_suffixed : whether the mark comes last.
    """

    mark: str
    type: str
    separator: str
    is_suffixed: bool

    def marked(self, mark: str) -> str:
        """Return the name with another mark.

        >>> read_labels(["PER-B"])[0].marked("I")
        'PER-I'
        """
        return (
            f"{self.type}{self.separator}{mark}" if self.is_suffixed else f"{mark}{self.separator}{self.type}"
        )


def mark_side(name: str) -> int:
    """Return 1 if a name can be read with the mark at its end only, -1 at its beginning only, else 0."""
    return bool(_SUFFIXED.fullmatch(name)) - bool(_PREFIXED.fullmatch(name))


@lru_cache(4096)
def read_label(name: str, side: int = 0) -> LabelName | None:
    """Return the parts of a name, or None if it belongs to no scheme.

    Parameters
    ----------
    side : the sum of `mark_side` over the label set: where most names have their marks.
    """
    first, last = _PREFIXED.fullmatch(name), _SUFFIXED.fullmatch(name)
    if first and (side <= 0 or not last):
        return LabelName(first[1], first[3] or "", first[2] or "", False)
    return LabelName(last[3], last[1] or "", last[2] or "", True) if last else None


def read_labels(names: Sequence[str]) -> list[LabelName | None]:
    """Return the parts of all names of a label set.

    >>> [(name.mark, name.type) for name in read_labels(["O", "S-B", "PER-B"])]
    [('O', ''), ('B', 'S'), ('B', 'PER')]
    """
    side = sum(map(mark_side, names))
    return [read_label(name, side) for name in names]


def span_marks(parts: Sequence[LabelName | None], types: Sequence[str] = ()) -> tuple[SpanMarks, list[str]]:
    """Return what labels mean for spans, and the types by number; what belongs to no scheme is outside.

    Parameters
    ----------
    types : numbered before any other.
    """
    kinds = [part.type if part else "" for part in parts]
    found = list(dict.fromkeys([*types, *kinds]))
    number = {kind: k for k, kind in enumerate(found)}
    marks = np.array([MARKS[part.mark] if part else 0 for part in parts], np.uint8)
    return SpanMarks(marks, np.array([number[kind] for kind in kinds], np.int32)), found
