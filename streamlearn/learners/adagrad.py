"""Linear-chain CRF trained by AdaGrad (Duchi, Hazan & Singer 2011)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.updates import adagrad
from streamlearn.learners.base import Supervision
from streamlearn.learners.lazy import LazyChain
from streamlearn.learners.weights import ChainWeights


class AdaGrad(LazyChain):
    """Goes along the gradient of log P(y | x), every weight at a rate that falls with its past gradients.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too.
    rate : of a weight whose squared gradients sum to 1.
    floor : what this sum begins with.
    sigma : standard deviation of the Gaussian prior of the weights; None for no L2 term.
    """

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool = True,
        second_order: bool = False,
        *,
        rate: float = 0.1,
        floor: float = 0.0,
        sigma: float | None = 5.0,
    ) -> None:
        super().__init__(max_rows, plain_edges, second_order, planes=2, notes=1)
        self._steps = adagrad.Steps(rate, floor, 1.0 / sigma**2 if sigma else 0.0)
        # All zero between sequences, and so no part of the state.
        self._slopes = ChainWeights(max_rows, 1, second_order)
        self._due = 0.0

    def _learn(
        self,
        rows: Rows,
        supervision: Supervision,
        n_labels: int,
        predicted_out: NDArray[np.int32],
        loss_out: NDArray[np.float64],
    ) -> None:
        arrays = self._weights.arrays
        self._due = adagrad.adagrad_pass(
            rows, supervision.labels, supervision.labels_known, supervision.importance, n_labels, self._seen,
            self._due, self._steps, self._plain_edges, supervision.mask, arrays, self._metas,
            self._slopes.fit(arrays), predicted_out, loss_out,
        )  # fmt: skip

    def _settle(
        self, wanted: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty((len(wanted), *weights.shape[1:]))
        adagrad.settled(wanted, weights, meta, self._due, self._steps, out)
        return out

    def _averaging(self) -> tuple[int, float]:
        return 0, 0.0

    def state(self) -> dict[str, Any]:
        """Copy weights and sums of squares."""
        return super().state() | {"due": self._due}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        super().restore(state)
        self._due = state["due"]
