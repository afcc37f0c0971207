"""The structured passive-aggressive algorithm, PA-I (Crammer et al. 2006)."""

from typing import Literal

from streamlearn.kernels.updates.margin import Margin
from streamlearn.learners.averaged import Average
from streamlearn.learners.margin import LargeMargin

Rival = Literal["max_loss", "prediction"]


class PassiveAggressive(LargeMargin):
    """Moves the weights as little as the margin of a sequence allows, and by no more than C · Δφ.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too.
    aggressiveness : C, where the margin is 1 for each wrong label.
    rival : the labelling that updates move away from: of the largest loss, or the one that is predicted.
    average : what predictions are made with: the last weights, the average of all, or an exponential one.
    half_life : of the exponential average, in sequences.
    """

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool = True,
        second_order: bool = False,
        *,
        aggressiveness: float = 0.03,
        rival: Rival = "prediction",
        average: Average = "exponential",
        half_life: float = 2000.0,
    ) -> None:
        margin = Margin(aggressiveness, 0.0, is_max_loss=rival == "max_loss")
        super().__init__(max_rows, plain_edges, second_order, margin, average, half_life, planes=2)
