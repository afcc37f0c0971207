"""Collins' structured perceptron (Collins 2002), single-pass, averaged."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from streamlearn.choices import Violation
from streamlearn.data import Rows
from streamlearn.errors import ConfigError
from streamlearn.kernels.updates.augmented_prediction import Search
from streamlearn.kernels.updates.averaging import Averaging
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.perceptron import perceptron_pass
from streamlearn.learners.averaged import AveragedChain
from streamlearn.learners.base import Scoring
from streamlearn.learners.chain import ChainSpec


class Perceptron(AveragedChain):
    """Updates w += Φ(x, y) − Φ(x, z) where the argmax z of the last weights is not the gold labelling y.

    With a cost, z = argmax w · Φ(x, z) + cost · H(y, z), where H counts wrong labels, so that updates do not
    end before y is better than every other labelling by a margin. The loss of a sequence is the number of
    positions where z is wrong.

    Parameters
    ----------
    spec : the chain; one of the second order learns triples of labels too, as Collins' own tagger does.
    averaging : what predictions are made with.
    cost : the margin that is required for each wrong label.
    beam : labels that every search keeps at each position, also in predictions; 0 for an exact search.
    violation : with a beam, update at the maximum violation, or stop at the first (early update).
    """

    has_cells = True

    def __init__(
        self, spec: ChainSpec, averaging: Averaging, *, cost: float, beam: int, violation: Violation
    ) -> None:
        super().__init__(spec, averaging)
        if spec.second_order and beam:
            raise ConfigError(
                f"learner.beam is {beam} with the template T: triples of labels need an exact search; set 0"
            )
        self._search = Search(cost, beam, violation == "early")
        self._steps = 0.0

    def _learn(self, batch: Pass) -> None:
        masked = batch._replace(mask=batch.mask._replace(beam=self._search.beam))
        self._norm_squared = perceptron_pass(
            masked, self._seen, self._norm_squared, self._averaging, self._search, self._weights.arrays
        )
        # One after the other, so that the cut into batches changes no bit of it.
        self._steps = float(np.cumsum([self._steps, *batch.importance[batch.loss_out > 0]])[-1])

    def gauges(self) -> Mapping[str, float]:
        """Return ‖w‖ of the last weights w, and ‖w‖ / n, where n is the total importance of the updates.

        Theorem 1 of Collins 2002 bounds the mistakes by R²/δ², where δ is the margin of the best u with
        ‖u‖ = 1. One pass does not determine δ, but an upper limit: w is the sum of all updates, each of which
        adds δ or more to u · w for an importance of 1, so that δ n ≤ u · w ≤ ‖w‖. The bound is therefore not
        below (R n / ‖w‖)².
        """
        gauges = super().gauges()
        if not self._steps:
            return gauges
        return {**gauges, "margin_limit": gauges["last_weights_norm"] / self._steps}

    def state(self) -> dict[str, Any]:
        """Return all planes of the weights, ‖w‖² and the counts; arrays are views, not copies."""
        return super().state() | {"steps": self._steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit; an older one has no count of updates: the limit is NaN then."""
        super().restore(state)
        self._steps = state.get("steps", math.nan)

    def scoring(self, rows: Rows) -> Scoring:
        """Return the averaged (or last) weights, and the beam."""
        return replace(super().scoring(rows), beam=self._search.beam)
