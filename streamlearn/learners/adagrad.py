"""Linear-chain CRF trained by AdaGrad (Duchi, Hazan & Singer 2011)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.updates import adagrad
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.lazy import LazyChain
from streamlearn.learners.weights import fitting, zeros_like


class AdaGrad(LazyChain):
    """Follows the gradient of log P(y | x), every weight at a rate that falls with its past gradients.

    Parameters
    ----------
    spec : the chain.
    rate : of a weight whose squared gradients sum to 1.
    floor : initial value of this sum.
    sigma : standard deviation of the Gaussian prior of the weights; None for no L2 term.
    """

    def __init__(self, spec: ChainSpec, *, rate: float, floor: float, sigma: float | None) -> None:
        super().__init__(spec, planes=2, metadata=1, scratch_planes=1)
        self._sizes = adagrad.StepSizes(rate, floor, 1.0 / sigma**2 if sigma else 0.0)
        # All zero between sequences, and so not part of the state.
        self._gradients = zeros_like(self._weights.arrays)
        self._l2_sum = 0.0

    def _learn(self, batch: Pass) -> None:
        arrays = self._weights.arrays
        self._gradients = fitting(self._gradients, arrays)
        self._l2_sum = adagrad.adagrad_pass(
            batch, self._seen, self._l2_sum, self._sizes, arrays, self._metas, self._gradients
        )

    def _catch_up(
        self, rows: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty((len(rows), *weights.shape[1:]))
        adagrad.caught_up(rows, weights, meta, self._l2_sum, self._sizes, out)
        return out

    def state(self) -> dict[str, Any]:
        """Return weights, sums of squared gradients and metadata; arrays are views, not copies."""
        return super().state() | {"due": self._l2_sum}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        super().restore(state)
        self._l2_sum = state["due"]
