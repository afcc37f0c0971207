"""Linear-chain CRF trained by stochastic gradient descent, whose one rate decays exponentially."""

from streamlearn.learners.adf import Adf
from streamlearn.learners.averaged import Average


class Sgd(Adf):
    """Goes along the gradient of log P(y | x) at the rate · decay^⌊t / per⌋ of sequence t.

    This is what is left of ADF where the rate of a feature does not depend on how often it occurs. The L2
    term is applied every `per` sequences, as there.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too.
    rate : of the first sequences.
    decay : factor of the rate after every `per` sequences.
    min_rate : the rate does not fall below it, so that learning never freezes.
    sigma : standard deviation of the Gaussian prior of the weights; None for no L2 term.
    average : what predictions are made with: the last weights, the average of all, or an exponential one.
    half_life : of the exponential average, in sequences.
    """

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool = True,
        second_order: bool = False,
        *,
        rate: float = 0.1,
        decay: float = 0.95,
        per: int = 200,
        min_rate: float = 0.0,
        sigma: float | None = 5.0,
        average: Average = "none",
        half_life: float = 10_000.0,
    ) -> None:
        super().__init__(
            max_rows,
            plain_edges,
            second_order,
            rate=rate,
            keep_rare=decay,
            keep_frequent=decay,
            window=per,
            min_rate=min_rate,
            sigma=sigma,
            late_start=True,
            average=average,
            half_life=half_life,
        )
