"""Label schemes that mark spans, and the counts from which scores of spans and tokens are computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.spans import count_spans
from streamlearn.label_names import read_labels, span_marks

Integers = NDArray[np.integer[Any]]

# The first known labels have their own row of confusions; all others share one.
CONFUSED = 32

_UNTYPED = "_"


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a batch of N sequences.

    Attributes
    ----------
    sequences : int64[N, 7]; the columns are 1, correct sequences, tokens, correct tokens, and gold, predicted
        and correct spans.
    types : int64[K, 3], gold, predicted and correct spans of each type of the scheme.
    labels : int64[L + 1, 3], gold, predicted and correct tokens of each label, and of no prediction.
    confusions : int64[C + 1, C + 1], wrong tokens by gold and predicted label, the last for all others.
    """

    sequences: NDArray[np.int64]
    types: NDArray[np.int64]
    labels: NDArray[np.int64]
    confusions: NDArray[np.int64]


class LabelScheme:
    """The meaning of each label for spans: BIO (IOB1, IOB2), IOBES, BILOU or BMES, with or without types.

    The mark stands before the type, as conlleval.pl requires, or after it; see `streamlearn.label_names`.

    Examples
    --------
    >>> scheme = LabelScheme()
    >>> scheme.grow(["O", "B-NP", "I-NP"])
    >>> scheme.is_spans, scheme.types
    (True, ['', 'NP'])
    >>> scheme.grow(["O", "B-NP", "I-NP", "NNS"])
    >>> scheme.is_spans
    False
    """

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.types: list[str] = []
        # The last entry, index -1, stands for "no prediction": outside of spans.
        self._marks = np.zeros(1, np.uint8)
        self._types = np.zeros(1, np.int32)
        self._foreign = 0

    @property
    def is_spans(self) -> bool:
        """Whether there are labels, all of which are marks of BIOESMLU with or without a type."""
        return bool(self.labels) and not self._foreign

    @property
    def type_names(self) -> list[str]:
        """The names of the types in reports, also of spans without a type, as in ``B M E S``."""
        untyped = _UNTYPED
        while untyped in self.types:
            untyped += _UNTYPED
        return [kind or untyped for kind in self.types]

    def grow(self, labels: Sequence[str]) -> None:
        """Add the labels appended to the list since the last call."""
        known = len(self.labels)
        if len(labels) < known or (known and labels[known - 1] != self.labels[-1]):
            raise ValueError(f"{len(labels)} labels are not a continuation of the {known} known ones")
        if len(labels) == known:
            return
        # Where the mark of a name stands depends on all names. A type that was misread keeps its number.
        parts = read_labels(labels)
        marked, self.types = span_marks(parts, self.types)
        self._marks = np.append(marked.marks, np.uint8(0))
        self._types = np.append(marked.types, np.int32(0))
        # A label that marks no span counts as outside; span scores are not reported in that case.
        self._foreign = sum(part is None for part in parts)
        self.labels.extend(labels[known:])

    def count(self, gold: Integers, predicted: Integers, offsets: Integers) -> Counts:
        """Count a batch.

        Parameters
        ----------
        gold, predicted : label numbers of all tokens, one sequence after the other; each names a label
            added by `grow`. A predicted -1 means no prediction: wrong, and outside of spans.
        offsets : N + 1 token numbers; sequence i is ``offsets[i]:offsets[i + 1]``.
        """
        gold, predicted = _as(gold, np.int32), _as(predicted, np.int32)
        counts = Counts(
            np.empty((len(offsets) - 1, 7), np.int64),
            np.zeros((len(self.types), 3), np.int64),
            np.zeros((len(self.labels) + 1, 3), np.int64),
            np.zeros((CONFUSED + 1, CONFUSED + 1), np.int64),
        )
        count_spans(
            gold,
            predicted,
            _as(offsets, np.int64),
            self._marks,
            self._types,
            counts.sequences,
            counts.types,
            counts.labels,
            counts.confusions,
        )
        return counts


def _as(values: Integers, dtype: type[np.integer[Any]]) -> Integers:
    return np.ascontiguousarray(values, dtype)
