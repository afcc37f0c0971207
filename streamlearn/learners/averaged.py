"""What learners that move by whole updates share: weights, and the plane that their average is made with."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.updates.averaging import (
    AVERAGE_ALL,
    AVERAGE_EXPONENTIAL,
    AVERAGE_NONE,
    Averaging,
    share,
)
from streamlearn.learners.base import Outcome, Scoring, Supervision
from streamlearn.learners.weights import ChainWeights

Average = Literal["none", "all", "exponential"]
AVERAGES = {"none": AVERAGE_NONE, "all": AVERAGE_ALL, "exponential": AVERAGE_EXPONENTIAL}


class Averaged(ABC):
    """A chain whose predictions are made with an average of its weight vectors, or with the last one.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too.
    average : what predictions are made with: the last weights, the average of all, or an exponential one.
    half_life : of the exponential average, in sequences.
    planes : arrays of the weights' shape: w, the plane of `kernels.updates.averaging`, and others.
    """

    is_probabilistic = False

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool,
        second_order: bool,
        average: Average,
        half_life: float,
        planes: int = 2,
    ) -> None:
        self._weights = ChainWeights(max_rows, planes, second_order)
        self._plain_edges = plain_edges
        self._averaging = Averaging(AVERAGES[average], half_life)
        self._count = 0
        self._norm_squared = 0.0

    @abstractmethod
    def _learn(
        self,
        rows: Rows,
        supervision: Supervision,
        n_labels: int,
        predicted_out: NDArray[np.int32],
        loss_out: NDArray[np.float64],
    ) -> float:
        """Predict, then learn, each sequence, where `n_labels` were known before; give ‖w‖² after."""

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order."""
        known = supervision.labels_known
        before = self._weights.n_labels
        predicted, losses = np.empty(len(supervision.labels), np.int32), np.empty(len(known))
        self._weights.reserve(int(known[-1]), rows.used)
        self._norm_squared = self._learn(rows, supervision, before, predicted, losses)
        self._count += len(known)
        return Outcome(predicted, losses, losses > 0)

    def scoring(self, rows: Rows) -> Scoring:
        """Give the averaged (or last) weights."""
        weights = self._weights
        return Scoring(rows, weights.arrays, weights.n_labels, share=self._share())

    def weights(self) -> Weights:
        """Give the averaged (or last) weights: node[row, label], edge[row, 1 + y_prev, label]."""
        taken = self._share()
        node, edge, triple = (array[:, 0] - taken * array[:, 1] for array in self._weights.trimmed())
        return Weights(node[:, 0], edge, triple)

    def _share(self) -> float:
        return float(share(self._averaging, self._count))

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Offer to begin a new average."""
        return {"reset_average": self.reset_average} if self._averaging.kind != AVERAGE_NONE else {}

    def reset_average(self) -> None:
        """Begin a new average with the weights as they are."""
        for array in self._weights.trimmed():
            array[:, 1] = 0.0
        self._count = 0

    def gauges(self) -> Mapping[str, float]:
        """Give ‖w‖ of the last weights, by which updates go."""
        return {"last_weights_norm": math.sqrt(max(self._norm_squared, 0.0))}

    def state(self) -> dict[str, Any]:
        """Copy all planes of the weights, and the count of sequences."""
        return {"count": self._count, "norm_squared": self._norm_squared, "weights": self._weights.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._count = state["count"]
        self._norm_squared = state["norm_squared"]
        self._weights.restore(state["weights"])
