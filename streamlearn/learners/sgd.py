"""Linear-chain CRF trained by stochastic gradient descent, whose one rate decays exponentially."""

from streamlearn.kernels.updates.averaging import Averaging
from streamlearn.learners.adf import Adf
from streamlearn.learners.chain import ChainSpec


class Sgd(Adf):
    """Follows the gradient of log P(y | x) at the rate · decay^⌊t / per⌋ of sequence t.

    This is ADF with a rate that does not depend on how often a feature occurs. The L2 term is applied every
    `per` sequences, as there.

    Parameters
    ----------
    spec : the chain.
    averaging : what predictions are made with.
    rate : of the first sequences.
    decay : factor of the rate after every `per` sequences.
    min_rate : the rate does not fall below it, so that learning never freezes.
    sigma : standard deviation of the Gaussian prior of the weights; None for no L2 term.
    """

    def __init__(
        self,
        spec: ChainSpec,
        averaging: Averaging,
        *,
        rate: float,
        decay: float,
        per: int,
        min_rate: float,
        sigma: float | None,
    ) -> None:
        super().__init__(
            spec,
            averaging,
            rate=rate,
            keep_rare=decay,
            keep_frequent=decay,
            window=per,
            growth=1.0,
            min_rate=min_rate,
            sigma=sigma,
            late_start=True,
        )
