"""What learners of a margin share: the kernel, and the scratch arrays that it adds differences up in."""

from abc import ABC

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.updates.margin import Margin, margin_pass
from streamlearn.learners.averaged import Average, Averaged
from streamlearn.learners.base import Supervision
from streamlearn.learners.weights import ChainWeights


class LargeMargin(Averaged, ABC):
    """Moves the weights just so far that no labelling falls short of its margin, or as far as it dares.

    The loss of a sequence is how far one did, before the update.

    Parameters
    ----------
    max_rows, plain_edges, second_order, average, half_life, planes : as for
        `streamlearn.learners.averaged.Averaged`.
    margin : what is asked, and how it is met.
    """

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool,
        second_order: bool,
        margin: Margin,
        average: Average,
        half_life: float,
        planes: int,
    ) -> None:
        super().__init__(max_rows, plain_edges, second_order, average, half_life, planes)
        self._margin = margin
        # All zero between sequences, and so no part of the state.
        self._scratch = ChainWeights(max_rows, 1, second_order)

    def _learn(
        self,
        rows: Rows,
        supervision: Supervision,
        n_labels: int,
        predicted_out: NDArray[np.int32],
        loss_out: NDArray[np.float64],
    ) -> float:
        arrays = self._weights.arrays
        return float(
            margin_pass(
                rows, supervision.labels, supervision.labels_known, supervision.importance, n_labels,
                self._count, self._norm_squared, self._averaging, self._margin, self._plain_edges,
                supervision.mask, arrays, self._scratch.fit(arrays),
                predicted_out, loss_out,
            )
        )  # fmt: skip
