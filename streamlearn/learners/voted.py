"""The voted perceptron (Freund & Schapire 1999; Collins 2002), single-pass and bounded."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.updates import voted
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.learners.base import Scoring
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.lazy import LazyChain


class VotedPerceptron(LazyChain):
    """Updates as Collins' perceptron does; its weight vectors so far vote on the labelling of a sequence.

    A vector has one vote for each sequence learned while it was the newest, and votes for a labelling as a
    whole. We differ from Freund & Schapire in that only the newest vectors vote: a stream has no end. Each
    costs memory for all weights, and a search for every prediction. Weights, scores and the K best are those
    of the newest vector. The loss of a sequence is the number of positions that it labels wrong.

    Parameters
    ----------
    spec : the chain.
    vectors : K, the number of vectors that vote; with 1, this is the perceptron with its last weights.
    """

    is_probabilistic = False

    def __init__(self, spec: ChainSpec, *, vectors: int) -> None:
        super().__init__(spec, planes=vectors, metadata=1)
        self._votes = np.zeros(vectors, np.int64)
        self._updates = 0

    def _learn(self, batch: Pass) -> None:
        self._updates = voted.voted_pass(batch, self._updates, self._weights.arrays, self._metas, self._votes)

    def _catch_up(
        self, rows: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty((len(rows), *weights.shape[1:]))
        voted.caught_up(rows, weights, meta, self._updates, out)
        return out

    def scoring(self, rows: Rows) -> Scoring:
        """Return the vectors that vote, brought up to date."""
        return replace(super().scoring(rows), votes=self._votes)

    def state(self) -> dict[str, Any]:
        """Return all vectors, their votes and metadata; arrays are views, not copies."""
        return super().state() | {"votes": self._votes, "updates": self._updates}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        super().restore(state)
        self._votes = state["votes"].copy()
        self._updates = state["updates"]
