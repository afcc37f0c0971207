"""The structured passive-aggressive algorithm, PA-I (Crammer et al. 2006)."""

from streamlearn.choices import Rival
from streamlearn.kernels.updates.averaging import Averaging
from streamlearn.kernels.updates.margin import Margin
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.margin import LargeMargin


class PassiveAggressive(LargeMargin):
    """Moves the weights as little as the margin of a sequence allows, and by no more than C · Δφ.

    Parameters
    ----------
    spec : the chain.
    averaging : what predictions are made with.
    aggressiveness : C, where the margin is 1 for each wrong label.
    rival : the labelling that updates move away from: the one with the largest loss, or the predicted one.
    """

    def __init__(self, spec: ChainSpec, averaging: Averaging, *, aggressiveness: float, rival: Rival) -> None:
        margin = Margin(aggressiveness, 0.0, is_max_loss=rival == "max_loss")
        super().__init__(spec, averaging, margin, planes=2)
