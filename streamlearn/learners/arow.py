"""Structured AROW, adaptive regularization of weight vectors (Crammer, Kulesza & Dredze 2009), diagonal."""

import math

from streamlearn.kernels.updates.margin import Margin
from streamlearn.learners.averaged import Average
from streamlearn.learners.margin import LargeMargin


class Arow(LargeMargin):
    """Moves each weight by its variance, which shrinks with every move: rare features move far, once.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too.
    regularization : r: the larger, the shorter the moves and the slower the variances shrink.
    average : what predictions are made with: the last weights, the average of all, or an exponential one.
    half_life : of the exponential average, in sequences.
    """

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool = True,
        second_order: bool = False,
        *,
        regularization: float = 10.0,
        average: Average = "none",
        half_life: float = 10_000.0,
    ) -> None:
        margin = Margin(math.inf, regularization, is_max_loss=True)
        super().__init__(max_rows, plain_edges, second_order, margin, average, half_life, planes=3)
