"""The scheme in which the data labels spans: expected, detected, and used for what is predicted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import DataScheme, FixedScheme, Scheme
from streamlearn.features.labels import LabelSet
from streamlearn.features.scheme_conversion import EVIDENCE, contradictions, detect_scheme


class GoldScheme:
    """Sums up what gold labels tell about their scheme.

    Parameters
    ----------
    labels : converts labels.
    given : scheme of the data; None if labels are not converted, "auto" for that of most sequences.
    constraint : in which predictions must be valid.

    Attributes
    ----------
    is_converted : whether the model has another scheme than the data may have.
    expected : the scheme in which gold labels should be valid; None for any.
    """

    def __init__(self, labels: LabelSet, given: DataScheme | None, constraint: Scheme) -> None:
        self._labels = labels
        self._given = given
        self._evidence = np.zeros(EVIDENCE, np.int64)
        self.is_converted = given is not None
        self.expected: FixedScheme | None = None
        if given and given != "auto":
            self.expected = given
        elif not given and constraint != "none":
            self.expected = constraint

    def add(self, evidence: NDArray[np.uint8]) -> None:
        """Add the evidence of sequences that are learned."""
        self._evidence += evidence.sum(axis=0, dtype=np.int64)

    @property
    def detected(self) -> FixedScheme | None:
        """The scheme of most sequences so far; None if they do not tell."""
        return detect_scheme(self._evidence)

    @property
    def unexpected(self) -> int:
        """How many sequences so far are not in the scheme that is expected."""
        return contradictions(self._evidence, self.expected) if self.expected else 0

    def unexpected_in(self, evidence: NDArray[np.uint8]) -> int:
        """Return how many of these sequences are not in the scheme that is expected."""
        total = evidence.sum(axis=0, dtype=np.int64)
        return contradictions(total, self.expected) if self.expected else 0

    def restored(self, labels: Sequence[str]) -> list[str]:
        """Return the labels of one sequence, predicted by the model, in the scheme of the data."""
        scheme = self.detected if self._given == "auto" else self._given
        return self._labels.restored(labels, scheme) if scheme else list(labels)

    def view(self) -> NDArray[np.int64]:
        """Return the state, not copied."""
        return self._evidence

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the state of a model; older ones have no evidence."""
        self._evidence = np.array(state.get("evidence", np.zeros(EVIDENCE)), np.int64)
