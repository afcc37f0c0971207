"""The voted perceptron (Freund & Schapire 1999; Collins 2002), single-pass and bounded."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.updates import voted
from streamlearn.learners.base import Scoring, Supervision
from streamlearn.learners.lazy import LazyChain


class VotedPerceptron(LazyChain):
    """Updates as Collins' perceptron does; the weight vectors that it had label a sequence by a vote.

    A vector has as many votes as sequences were learned while it was the newest, and votes for a labelling
    as a whole. We differ from Freund & Schapire in that only the newest vectors vote: a stream has no end.
    Each costs memory for all weights, and a search for every prediction. Weights, scores and the K best are
    those of the newest vector. The loss of a sequence is the number of positions that it labels wrong.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels.
    vectors : K, how many vote; with 1 it is the perceptron that predicts with its last weights.
    """

    is_probabilistic = False

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool = True,
        second_order: bool = False,
        *,
        vectors: int = 10,
    ) -> None:
        super().__init__(max_rows, plain_edges, second_order, planes=vectors, notes=1)
        self._votes = np.zeros(vectors, np.int64)
        self._updates = 0

    def _learn(
        self,
        rows: Rows,
        supervision: Supervision,
        n_labels: int,
        predicted_out: NDArray[np.int32],
        loss_out: NDArray[np.float64],
    ) -> None:
        self._updates = voted.voted_pass(
            rows, supervision.labels, supervision.labels_known, supervision.importance, n_labels,
            self._updates, self._plain_edges, supervision.mask, self._weights.arrays, self._metas,
            self._votes, predicted_out, loss_out,
        )  # fmt: skip

    def _settle(
        self, wanted: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty((len(wanted), *weights.shape[1:]))
        voted.settled(wanted, weights, meta, self._updates, out)
        return out

    def _averaging(self) -> tuple[int, float]:
        return 0, 0.0

    def scoring(self, rows: Rows) -> Scoring:
        """Give the vectors that vote, as they are now."""
        return replace(super().scoring(rows), votes=self._votes)

    def state(self) -> dict[str, Any]:
        """View all vectors and their votes."""
        return super().state() | {"votes": self._votes, "updates": self._updates}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        super().restore(state)
        self._votes = state["votes"].copy()
        self._updates = state["updates"]
