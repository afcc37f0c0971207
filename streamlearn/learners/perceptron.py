"""Collins' structured perceptron (Collins 2002), single-pass, averaged."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.errors import ConfigError
from streamlearn.kernels.chain.augmented_decoding import Search
from streamlearn.kernels.updates.perceptron import perceptron_pass
from streamlearn.learners.averaged import Average, Averaged
from streamlearn.learners.base import Scoring, Supervision

Violation = Literal["max", "early"]


class Perceptron(Averaged):
    """Updates w += Φ(x, y) − Φ(x, z) where the argmax z of the last weights is not the gold labelling y.

    With a cost, z = argmax w · Φ(x, z) + cost · H(y, z), where H counts wrong labels, so that updates go on
    until every labelling falls short of y by a margin. The loss of a sequence is the number of positions
    where z is wrong.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too, as Collins' own tagger does.
    cost : the margin that is asked for each wrong label.
    beam : labels that every search keeps at each position, that of predictions too; 0 for an exact search.
    violation : the prefix that updates with a beam are about: of the largest violation, or the first.
    average : what predictions are made with: the last weights, the average of all, or an exponential one.
    half_life : of the exponential average, in sequences.
    """

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool = True,
        second_order: bool = False,
        *,
        cost: float = 0.0,
        beam: int = 0,
        violation: Violation = "max",
        average: Average = "all",
        half_life: float = 10_000.0,
    ) -> None:
        super().__init__(max_rows, plain_edges, second_order, average, half_life)
        if second_order and beam:
            raise ConfigError(
                f"learner.beam is {beam} with the template T: triples of labels need an exact search; set 0"
            )
        self._search = Search(cost, beam, violation == "early")
        self._steps = 0.0

    def _learn(
        self,
        rows: Rows,
        supervision: Supervision,
        n_labels: int,
        predicted_out: NDArray[np.int32],
        loss_out: NDArray[np.float64],
    ) -> float:
        mask = supervision.mask._replace(beam=self._search.beam)
        norm_squared = perceptron_pass(
            rows, supervision.labels, supervision.labels_known, supervision.importance, n_labels,
            self._count, self._norm_squared, self._averaging, self._search, self._plain_edges,
            mask, self._weights.arrays, predicted_out, loss_out,
        )  # fmt: skip
        # One after the other, so that the cut into batches changes no bit of it.
        self._steps = float(np.cumsum([self._steps, *supervision.importance[loss_out > 0]])[-1])
        return float(norm_squared)

    def gauges(self) -> Mapping[str, float]:
        """Give ‖w‖ of the last weights w, and ‖w‖ / n after updates of n in all.

        Theorem 1 of Collins 2002 bounds the mistakes by R²/δ², where δ is the margin of the best u with
        ‖u‖ = 1. One pass cannot know it, but limits it: w is the sum of all updates, each of which is δ or
        more along u, so that δ n ≤ u · w ≤ ‖w‖. The bound is thus no less than (R n / ‖w‖)².
        """
        gauges = super().gauges()
        if not self._steps:
            return gauges
        return {**gauges, "margin_limit": gauges["last_weights_norm"] / self._steps}

    def state(self) -> dict[str, Any]:
        """Copy all planes of the weights, and the counts of sequences and updates."""
        return super().state() | {"steps": self._steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit; where an older one counts no updates, the limit is NaN."""
        super().restore(state)
        self._steps = state.get("steps", math.nan)

    def scoring(self, rows: Rows) -> Scoring:
        """Give the averaged (or last) weights, and the beam."""
        return replace(super().scoring(rows), beam=self._search.beam)
