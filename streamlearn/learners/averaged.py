"""Learners that predict with an average of their weights, and keep track of ‖w‖."""

import math
from abc import ABC
from collections.abc import Callable, Mapping
from typing import Any

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.updates.averaging import AVERAGE_NONE, Averaging, average_share
from streamlearn.learners.base import Scoring
from streamlearn.learners.chain import ChainLearner, ChainSpec


class AveragedChain(ChainLearner, ABC):
    """A chain whose predictions are made with an average of its weight vectors, or with the last one.

    Parameters
    ----------
    spec : the chain.
    averaging : what predictions are made with.
    planes : arrays of the weights' shape: w, the plane of `kernels.updates.averaging`, and others.
    scratch_planes : others that are all 0 between sequences.
    """

    def __init__(
        self, spec: ChainSpec, averaging: Averaging, planes: int = 2, scratch_planes: int = 0
    ) -> None:
        super().__init__(spec, planes, scratch_planes)
        self._averaging = averaging
        self._norm_squared = 0.0

    def scoring(self, rows: Rows) -> Scoring:
        """Return the averaged (or last) weights."""
        weights = self._weights
        return Scoring(self._within_room(rows), weights.arrays, weights.n_labels, share=self._share())

    def weights(self) -> Weights:
        """Return the averaged (or last) weights: node[row, label], edge[row, 1 + y_prev, label].

        Rows of edges that are lists of cells are left out.
        """
        share = self._share()
        node, edge, triple = (array[:, 0] - share * array[:, 1] for array in self._weights.trimmed()[:3])
        return Weights(node[:, 0], edge, triple)

    def _share(self) -> float:
        return average_share(self._averaging, self._seen)

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Return the remedy that begins a new average, if there is an average."""
        return {"reset_average": self.reset_average} if self._averaging.kind != AVERAGE_NONE else {}

    def reset_average(self) -> None:
        """Begin a new average with the current weights."""
        node, edge, triple, cells = self._weights.trimmed()
        for array in (node, edge, triple):
            array[:, 1] = 0.0
        if len(cells.heads):
            cells.values[:, 1] = 0.0
        self._seen = 0

    def gauges(self) -> Mapping[str, float]:
        """Return ‖w‖ of the last weights, which updates are based on."""
        return {"last_weights_norm": math.sqrt(max(self._norm_squared, 0.0))}

    def state(self) -> dict[str, Any]:
        """Return all planes of the weights, ‖w‖² and the count of sequences; arrays are views, not copies."""
        return {"count": self._seen, "norm_squared": self._norm_squared, "weights": self._weights.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._seen = state["count"]
        self._norm_squared = state["norm_squared"]
        self._weights.restore(state["weights"])
