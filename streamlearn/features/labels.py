"""The label set: extended while learning, mapped by the configuration, bounded; it never shrinks."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlearn.errors import Reason, RecordError

LONGEST_LABEL = 256


class LabelSet:
    """Label names and their numbers in the order of first sighting.

    Parameters
    ----------
    known : labels that exist from the start, in this order.
    mapping : names in the data to names in the model.
    other : replacement for every name that is not in `mapping`; None keeps the name.
    max_labels : largest number of labels; a sequence with one more is rejected.
    """

    def __init__(
        self,
        known: Sequence[str] = (),
        mapping: Mapping[str, str] | None = None,
        other: str | None = None,
        max_labels: int = 1024,
    ) -> None:
        self._mapping = dict(mapping or {})
        self._other = other
        self._max_labels = max_labels
        self.names: list[str] = []
        # From names in the data to numbers, so that each name is mapped only once.
        self._numbers: dict[str, int] = {}
        self._index: dict[str, int] = {}
        self.restore(known)

    def mapped(self, label: str) -> str:
        """Return the model's name for a label of the data."""
        return self._mapping.get(label, label if self._other is None else self._other)

    def find(self, labels: Sequence[str]) -> NDArray[np.int32] | None:
        """Return the numbers of labels of any sequences, or None if one is not in the cache."""
        try:
            return np.fromiter(map(self._numbers.__getitem__, labels), np.int32, len(labels))
        except KeyError:
            return None

    def encode(self, labels: Sequence[str]) -> list[int]:
        """Return the numbers of the labels of one sequence, adding new labels.

        Raises
        ------
        RecordError : there are too many labels; none was added then.
        """
        try:
            return list(map(self._numbers.__getitem__, labels))
        except KeyError:
            self._learn(labels)
            return list(map(self._numbers.__getitem__, labels))

    def count_with(self, labels: Iterable[str]) -> int:
        """Return the number of labels that would be known after these."""
        return len(self._index.keys() | {self.mapped(label) for label in labels})

    def _learn(self, labels: Iterable[str]) -> None:
        mapped = dict.fromkeys(self.mapped(label) for label in labels)
        new = [name for name in mapped if name not in self._index]
        if any(len(name) > LONGEST_LABEL for name in new):
            raise RecordError(Reason.TOO_LARGE, f"a label has more than {LONGEST_LABEL} characters")
        if len(self.names) + len(new) > self._max_labels:
            message = f"label {new[0]!r} would be number {len(self.names) + 1} of {self._max_labels}"
            raise RecordError(Reason.LABELS_FULL, f"{message} (labels.max, features.memory)")
        for name in new:
            self._index[name] = len(self.names)
            self.names.append(name)
        if len(self._numbers) > 4 * self._max_labels:
            # Many names of the data may map to few labels: the cache stays bounded.
            self._numbers.clear()
        for label in labels:
            self._numbers[label] = self._index[self.mapped(label)]

    def restore(self, names: Sequence[str]) -> None:
        """Restore the label set of a checkpoint."""
        self.names = list(names)
        self._index = {name: number for number, name in enumerate(names)}
        self._numbers = {}
