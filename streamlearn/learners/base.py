"""The contract of a learner: what later ones plug into without touching the loop."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows


@dataclass(frozen=True, slots=True)
class Supervision:
    """What a batch should have been labelled as.

    Attributes
    ----------
    labels : int32[n], gold label numbers.
    labels_known : int32[N], how many labels exist once each sequence has been read; only labels known
        before a sequence are predicted for it.
    importance : float64[N], weight of each sequence.
    """

    labels: NDArray[np.int32]
    labels_known: NDArray[np.int32]
    importance: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call of `learn_many` did.

    Attributes
    ----------
    predicted : int32[n], labels predicted by the model as `predict_many` would have at that moment, with
        weights that had not seen the sequence; -1 before any label was known.
    updates : sequences that changed the weights.
    loss : sum of the learner's own loss.
    """

    predicted: NDArray[np.int32]
    updates: int
    loss: float


class Learner(Protocol):
    """Learns one sequence after the other: how a stream is cut into batches never changes the weights."""

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order."""

    def predict_many(self, rows: Rows) -> NDArray[np.int32]:
        """Label sequences, int32[n], changing nothing.

        Raises
        ------
        ValueError : no label is known yet.
        """

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the weights that predictions are made with: node[row, label], edge[row, 1 + y_prev, label]."""

    def gauges(self) -> Mapping[str, float]:
        """Give what is worth watching, by metric name."""

    def state(self) -> dict[str, Any]:
        """Copy everything that learning depends on: plain data and arrays."""

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
