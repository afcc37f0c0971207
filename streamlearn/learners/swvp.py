"""The structured weighted violations perceptron (Dror & Reichart 2016), single-pass, averaged."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from streamlearn.choices import Condition, Substructures, Violations, Weighting
from streamlearn.kernels.updates import swvp, swvp_gamma, swvp_substructures
from streamlearn.kernels.updates.augmented_prediction import Search
from streamlearn.kernels.updates.averaging import Averaging
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.learners.averaged import AveragedChain
from streamlearn.learners.chain import ChainSpec

SUBSTRUCTURES: dict[Substructures, int] = {
    "single": swvp_substructures.SINGLE,
    "whole": swvp_substructures.WHOLE,
    "blocks": swvp_substructures.BLOCKS,
    "all": swvp_substructures.ALL,
    "spans": swvp_substructures.SPANS,
}
WEIGHTINGS: dict[Weighting, int] = {
    "wm": swvp_gamma.WEIGHTED_MARGIN,
    "wmr": swvp_gamma.WEIGHTED_MARGIN_RANK,
}


class Swvp(AveragedChain):
    """Updates w += Σ_J γ_J (Φ(x, y) − Φ(x, m^J)) where the argmax z of the last weights is not the gold y.

    The mixed assignment m^J is z in the substructure J and y elsewhere. With γ_J ≥ 0 that sum to 1 and meet
    condition (2), the number of updates is bounded as the perceptron's is (theorem 1). Where no γ can meet
    it, or all margins are 0, the update is the perceptron's. The loss of a sequence is the number of
    positions where z is wrong.

    We differ from the paper in that positions where z is correct are never substructures of their own: their
    mixed assignment is y itself. They would change no update, except through the ranks of WMR.

    Parameters
    ----------
    spec : the chain.
    averaging : what predictions are made with.
    substructures : JJ: ``single`` wrong positions as in the paper; the ``whole``, as in Collins' perceptron;
        ``blocks``, maximal runs of wrong positions; ``all`` subsets of up to `max_errors` wrong positions,
        and blocks if there are more; or the gold and predicted ``spans`` with errors.
    max_errors : for ``all``, which are up to 2^max_errors − 1 subsets.
    gamma : how γ_J depends on the margin: on its size (``wm``) or its rank (``wmr``).
    beta : β ≥ 0, the power of either; with 0 all have the same weight.
    violations : ``aggressive`` updates use only violations, ``balanced`` ones all mixed assignments.
    condition : whether condition (2) is enforced on balanced updates, or not, as in the paper's experiments.
    cost : the margin that is required for each wrong label; 0 as in the paper. z is found with it, and a
        mixed assignment is a violation if its margin, less the cost, is not above 0.
    """

    has_cells = True

    def __init__(
        self,
        spec: ChainSpec,
        averaging: Averaging,
        *,
        substructures: Substructures,
        max_errors: int,
        gamma: Weighting,
        beta: float,
        violations: Violations,
        condition: Condition,
        cost: float,
    ) -> None:
        super().__init__(spec, averaging)
        rule = swvp_gamma.Gamma(WEIGHTINGS[gamma], beta, violations == "aggressive", condition == "enforced")
        self._search = Search(cost, 0, False)
        self._strategy = swvp.Strategy(SUBSTRUCTURES[substructures], max_errors, rule)
        self._tallies = np.zeros(swvp.TALLIES)

    def _learn(self, batch: Pass) -> None:
        self._norm_squared = swvp.swvp_pass(
            batch, self._seen, self._norm_squared, self._averaging, self._search, self._strategy,
            self._weights.arrays, self._tallies,
        )  # fmt: skip

    def gauges(self) -> Mapping[str, float]:
        """Return ‖w‖ and what was counted since the first sequence.

        These are mixed assignments that were violations, and that were not; updates that backed off to the
        perceptron's; and the sum of the γ of violations, where all γ of an update sum to 1.
        """
        tallies = self._tallies.tolist()
        return {
            **super().gauges(),
            "violations/violating": tallies[swvp.VIOLATIONS],
            "violations/non_violating": tallies[swvp.NON_VIOLATIONS],
            "swvp_backoffs": tallies[swvp.BACKOFFS],
            "swvp_violating_gamma": tallies[swvp.VIOLATING_GAMMA],
        }

    def state(self) -> dict[str, Any]:
        """Return all planes of the weights and the counts; arrays are views, not copies."""
        return super().state() | {"tallies": self._tallies}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        super().restore(state)
        self._tallies = state["tallies"].copy()
