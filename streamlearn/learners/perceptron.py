"""Collins' structured perceptron (Collins 2002), single-pass, averaged."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.perceptron import perceptron_pass
from streamlearn.learners.base import Outcome, Scoring, Supervision
from streamlearn.learners.weights import ChainWeights


class Perceptron:
    """Updates w += Φ(x, y) − Φ(x, z) where the argmax z of the last weights is not the gold labelling y.

    The loss of a sequence is the number of positions where z is wrong.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    average : predict with the average of the weights over all sequences so far; else with the last ones.
    """

    is_probabilistic = False

    def __init__(self, max_rows: tuple[int, int], plain_edges: bool = True, *, average: bool = True) -> None:
        self._weights = ChainWeights(max_rows, planes=2)
        self._average = average
        self._plain_edges = plain_edges
        self._count = 0
        self._norm_squared = 0.0

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order."""
        known = supervision.labels_known
        before = self._weights.n_labels
        predicted, losses = np.empty(len(supervision.labels), np.int32), np.empty(len(known))
        self._weights.reserve(int(known[-1]), rows.used)
        self._norm_squared = perceptron_pass(
            rows, supervision.labels, known, supervision.importance, before, self._count, self._norm_squared,
            self._average, self._plain_edges, supervision.mask, self._weights.node, self._weights.edge,
            predicted, losses,
        )  # fmt: skip
        self._count += len(known)
        return Outcome(predicted, losses, losses > 0)

    def scoring(self, rows: Rows) -> Scoring:
        """Give the averaged (or last) weights."""
        weights = self._weights
        return Scoring(rows, weights.node, weights.edge, weights.n_labels, share=self._share())

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the averaged (or last) weights: node[row, label], edge[row, 1 + y_prev, label]."""
        share = self._share()
        node, edge = self._weights.trimmed()
        return node[:, 0, 0] - share * node[:, 1, 0], edge[:, 0] - share * edge[:, 1]

    def gauges(self) -> Mapping[str, float]:
        """Give ‖w‖ of the last weights."""
        return {"weights_norm": math.sqrt(max(self._norm_squared, 0.0))}

    def _share(self) -> float:
        """Give the factor of the totals in the average."""
        return 1.0 / self._count if self._average and self._count else 0.0

    def state(self) -> dict[str, Any]:
        """Copy weights, totals and the count of sequences."""
        return {"count": self._count, "norm_squared": self._norm_squared, "weights": self._weights.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._count = state["count"]
        self._norm_squared = state["norm_squared"]
        self._weights.restore(state["weights"])
