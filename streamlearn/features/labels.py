"""The label set: extended while learning, mapped by the configuration, bounded; it never shrinks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import FixedScheme, ModelScheme
from streamlearn.errors import Reason, RecordError
from streamlearn.features.scheme_conversion import EVIDENCE, LabelTable, convert
from streamlearn.label_names import mark_side

LONGEST_LABEL = 256


class EncodedLabels(NamedTuple):
    """The labels of N sequences with n tokens.

    Attributes
    ----------
    numbers : int32[n].
    evidence : uint8[N, `EVIDENCE`], for the scheme in which the records give them.
    """

    numbers: NDArray[np.int32]
    evidence: NDArray[np.uint8]


NO_LABELS = EncodedLabels(np.empty(0, np.int32), np.empty((0, EVIDENCE), np.uint8))


def joined_labels(pieces: Sequence[EncodedLabels]) -> EncodedLabels:
    """Return the labels of all sequences, in order."""
    parts = [NO_LABELS, *pieces]
    return EncodedLabels(
        np.concatenate([part.numbers for part in parts]), np.concatenate([part.evidence for part in parts])
    )


class LabelSet:
    """Label names and their numbers in the order of first sighting.

    Parameters
    ----------
    known : labels that exist from the start, in this order.
    mapping : names in the data to names in the model.
    other : replacement for every name that is not in `mapping`; None keeps the name.
    max_labels : largest number of labels; a sequence with one more is rejected.
    scheme : what mapped labels are converted to; None keeps them.
    """

    def __init__(
        self,
        known: Sequence[str] = (),
        mapping: Mapping[str, str] | None = None,
        other: str | None = None,
        max_labels: int = 1024,
        scheme: ModelScheme | None = None,
    ) -> None:
        self._mapping = dict(mapping or {})
        self._other = other
        self._max_labels = max_labels
        self._scheme = scheme
        self.names: list[str] = []
        # From names in the data to places in `_mapped`, so that each name is mapped only once.
        self._places: dict[str, int] = {}
        self._mapped: dict[str, int] = {}
        self._index: dict[str, int] = {}
        self._side = 0
        # Of `_mapped`; None while it is out of date.
        self._table: tuple[LabelTable, NDArray[np.int32]] | None = None
        self.restore(known)

    def mapped(self, label: str) -> str:
        """Return the name that a label of the data is mapped to, before any conversion."""
        return self._mapping.get(label, label if self._other is None else self._other)

    def find(self, labels: Sequence[str], starts: NDArray[np.int64]) -> EncodedLabels | None:
        """Return the labels of any sequences, or None if one is not known.

        Parameters
        ----------
        starts : int64[N + 1]; sequence i is ``labels[starts[i]:starts[i + 1]]``.
        """
        try:
            places = np.fromiter(map(self._places.__getitem__, labels), np.int32, len(labels))
        except KeyError:
            return None
        if self._table is None:
            table = LabelTable(list(self._mapped), self._side, self._scheme)
            self._table = table, table.targets(self._index)
        table, targets = self._table
        marks, evidence = table.marks(places, starts)
        numbers = targets[places, marks]
        return EncodedLabels(numbers, evidence) if numbers.min(initial=0) >= 0 else None

    def encode(self, labels: Sequence[str]) -> EncodedLabels:
        """Return the labels of one sequence, adding new ones.

        Raises
        ------
        RecordError : there are too many labels; none was added then.
        """
        mapped = [self.mapped(label) for label in labels]
        names, evidence = convert(mapped, self._scheme, self._side)
        self._add([name for name in dict.fromkeys(names) if name not in self._index])
        if len(self._places) > 4 * self._max_labels:
            # Many names of the data may map to few labels: the cache stays bounded.
            self._forget()
        for label, name in zip(labels, mapped, strict=True):
            if name not in self._mapped:
                self._mapped[name] = len(self._mapped)
                self._table = None
            self._places[label] = self._mapped[name]
        return EncodedLabels(np.array([self._index[name] for name in names], np.int32), evidence[None])

    def count_with(self, labels: Sequence[str]) -> int:
        """Return the number of labels that would be known after these."""
        names, _ = convert([self.mapped(label) for label in labels], self._scheme, self._side)
        return len(self._index.keys() | set(names))

    def restored(self, labels: Sequence[str], scheme: FixedScheme) -> list[str]:
        """Return the labels of one sequence in the scheme of the data."""
        return convert(labels, scheme, self._side)[0]

    def _add(self, new: Sequence[str]) -> None:
        if any(len(name) > LONGEST_LABEL for name in new):
            raise RecordError(Reason.TOO_LARGE, f"a label has more than {LONGEST_LABEL} characters")
        if len(self.names) + len(new) > self._max_labels:
            message = f"label {new[0]!r} would be number {len(self.names) + 1} of {self._max_labels}"
            raise RecordError(Reason.LABELS_FULL, f"{message} (labels.max, features.memory)")
        for name in new:
            self._index[name] = len(self.names)
            self.names.append(name)
            self._side += mark_side(name)
            self._table = None

    def _forget(self) -> None:
        self._places, self._mapped, self._table = {}, {}, None

    def restore(self, names: Sequence[str]) -> None:
        """Restore the label set of a checkpoint."""
        self.names = list(names)
        self._index = {name: number for number, name in enumerate(names)}
        self._side = sum(map(mark_side, names))
        self._forget()
