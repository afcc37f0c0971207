"""Structured AROW, adaptive regularization of weight vectors (Crammer, Kulesza & Dredze 2009), diagonal."""

import math

from streamlearn.kernels.updates.averaging import Averaging
from streamlearn.kernels.updates.margin import Margin
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.margin import LargeMargin


class Arow(LargeMargin):
    """Updates each weight in proportion to its variance, which shrinks with every update.

    The weights of rare features therefore make few, large steps.

    Parameters
    ----------
    spec : the chain.
    averaging : what predictions are made with.
    regularization : r: the larger, the smaller the steps and the more slowly the variances shrink.
    """

    def __init__(self, spec: ChainSpec, averaging: Averaging, *, regularization: float) -> None:
        super().__init__(spec, averaging, Margin(math.inf, regularization, is_max_loss=True), planes=3)
