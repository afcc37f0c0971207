"""Large-margin learners: the kernel that they share, and its scratch arrays for sums of differences."""

from abc import ABC

from streamlearn.kernels.updates.averaging import Averaging
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.margin import Margin, margin_pass
from streamlearn.learners.averaged import AveragedChain
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.weights import fitting, zeros_like


class LargeMargin(AveragedChain, ABC):
    """Updates the weights so that a labelling z meets its margin, or as far towards it as `margin` allows.

    The loss of a sequence is what z was short of its margin before the update.

    Parameters
    ----------
    spec, averaging, planes : as for `AveragedChain`.
    margin : which labelling z, and how far an update moves.
    """

    def __init__(self, spec: ChainSpec, averaging: Averaging, margin: Margin, planes: int) -> None:
        super().__init__(spec, averaging, planes, scratch_planes=1)
        self._margin = margin
        # All zero between sequences, and so not part of the state.
        self._scratch = zeros_like(self._weights.arrays)

    def _learn(self, batch: Pass) -> None:
        arrays = self._weights.arrays
        self._scratch = fitting(self._scratch, arrays)
        self._norm_squared = margin_pass(
            batch, self._seen, self._norm_squared, self._averaging, self._margin, arrays, self._scratch
        )
