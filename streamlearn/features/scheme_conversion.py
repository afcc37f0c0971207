"""Conversion of labels between the scheme of the records and that of the model; spans stay what they are."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import FixedScheme
from streamlearn.kernels.scheme_marks import BIO, IOB1, IOBES, scheme_marks
from streamlearn.kernels.spans import BEGINS, ENDS, INSIDE
from streamlearn.label_names import read_label, span_marks

_KINDS: Mapping[FixedScheme, int] = {"bio": BIO, "iob1": IOB1, "iobes": IOBES, "bmes": IOBES, "bilou": IOBES}
_BITS = (INSIDE | BEGINS, INSIDE, INSIDE | ENDS, INSIDE | BEGINS | ENDS)
_LETTERS: Mapping[FixedScheme, Mapping[int, str]] = {
    "bio": dict(zip(_BITS, "BI", strict=False)),
    "iob1": dict(zip(_BITS, "BI", strict=False)),
    "iobes": dict(zip(_BITS, "BIES", strict=True)),
    "bmes": dict(zip(_BITS, "BMES", strict=True)),
    "bilou": dict(zip(_BITS, "BILU", strict=True)),
}

EVIDENCE = 7
"""Columns of what a sequence tells about its scheme: not BIO, not IOB1, not IOBES; I, M, E or S, L or U."""
_COLUMNS = {"I": 3, "M": 4, "E": 5, "S": 5, "L": 6, "U": 6}

Numbers = NDArray[np.int32]
Evidence = NDArray[np.uint8]


def detect_scheme(evidence: NDArray[np.int64]) -> FixedScheme | None:
    """Return the scheme that contradicts the fewest sequences; None if there is nothing to tell by.

    Parameters
    ----------
    evidence : int64[`EVIDENCE`], sum over sequences.
    """
    not_bio, not_iob1, not_iobes, inside, middle, end, last = evidence.tolist()
    has_ends, fewest = middle + end + last > 0, min(not_bio, not_iob1)
    # Variants without a mark for single tokens, such as BILO, contradict every scheme.
    if not_iobes < fewest or (not_iobes == fewest and has_ends):
        return "bilou" if last > end else "bmes" if middle > inside else "iobes"
    if not_bio == not_iob1 == not_iobes:
        return None
    return "bio" if not_bio <= not_iob1 else "iob1"


def contradictions(evidence: NDArray[np.int64], scheme: FixedScheme) -> int:
    """Return how many sequences are not labelled in a scheme, apart from the letters of its marks."""
    return int(evidence[_KINDS[scheme]])


class LabelTable:
    """Labels of one scheme and their names in another.

    Parameters
    ----------
    names : the labels of the one.
    side : as for `streamlearn.label_names.read_label`.
    scheme : the other; None keeps all names.
    """

    def __init__(self, names: Sequence[str], side: int, scheme: FixedScheme | None) -> None:
        self._names = names
        self._parts = parts = [read_label(name, side) for name in names]
        self._kind = _KINDS[scheme] if scheme else BIO
        self._letters = _LETTERS[scheme] if scheme else {}
        self._marked, _ = span_marks(parts)
        self._columns = np.array([_COLUMNS.get(part.mark, 0) if part else 0 for part in parts], np.uint8)

    def name(self, label: int, mark: int) -> str:
        """Return the name of a label in the other scheme, if it has this mark there."""
        part, letter = self._parts[label], self._letters.get(mark)
        return part.marked(letter) if part and letter else self._names[label]

    def targets(self, numbers: Mapping[str, int]) -> Numbers:
        """Return int32[L, 8]: by label and mark, the number of the name in the other scheme, or -1."""
        found = np.full((len(self._names), 1 + max(_BITS)), -1, np.int32)
        for y, name in enumerate(self._names):
            found[y] = numbers.get(name, -1)
            for mark in self._letters if self._parts[y] else ():
                found[y, mark] = numbers.get(self.name(y, mark), -1)
        return found

    def marks(self, labels: Numbers, starts: NDArray[np.int64]) -> tuple[NDArray[np.uint8], Evidence]:
        """Return the marks of sequences in the other scheme, and what they tell about their own."""
        marks = np.empty(len(labels), np.uint8)
        evidence = np.empty((len(starts) - 1, EVIDENCE), np.uint8)
        scheme_marks(labels, starts, self._marked, self._columns, self._kind, marks, evidence)
        return marks, evidence


def convert(labels: Sequence[str], scheme: FixedScheme | None, side: int) -> tuple[list[str], Evidence]:
    """Return the labels of one sequence in another scheme, and the evidence for their own: uint8[`EVIDENCE`].

    Parameters
    ----------
    scheme : None keeps the labels.
    side : as for `streamlearn.label_names.read_label`.

    Examples
    --------
    >>> convert(["I-X", "B-X", "O"], "iobes", 0)[0]
    ['S-X', 'S-X', 'O']
    """
    places = {name: place for place, name in enumerate(dict.fromkeys(labels))}
    table = LabelTable(list(places), side, scheme)
    numbers = np.array([places[label] for label in labels], np.int32)
    marks, evidence = table.marks(numbers, np.array([0, len(labels)], np.int64))
    return [table.name(y, mark) for y, mark in zip(numbers.tolist(), marks.tolist(), strict=True)], evidence[
        0
    ]
