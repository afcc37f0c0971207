"""Weights whose idle rows are brought up to date when they are needed: what such learners share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.learners.base import Outcome, Scoring, Supervision
from streamlearn.learners.weights import ChainWeights, zeros


class LazyChain(ABC):
    """A chain, unless told otherwise a CRF: the loss of a sequence is −log P(y | x) before its update.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    planes : arrays of the weights' shape that are kept.
    notes : numbers kept for each row, 0 while it has never been active.
    """

    is_probabilistic = True

    def __init__(
        self, max_rows: tuple[int, int], plain_edges: bool, second_order: bool, planes: int, notes: int
    ) -> None:
        self._max_rows = max_rows
        self._plain_edges = plain_edges
        self._weights = ChainWeights(max_rows, planes, second_order)
        self._notes = notes
        self._clear()

    def _clear(self) -> None:
        self._metas = tuple(zeros((rows, self._notes)) for rows in (*self._max_rows, 0))
        self._seen = 0

    def _reserve(self, n_labels: int, used: tuple[int, int]) -> None:
        self._weights.reserve(n_labels, used)
        node, edge, triple = self._metas
        new = np.zeros((len(self._weights.arrays.triple) - len(triple), self._notes))
        if len(new):
            self._metas = node, edge, np.concatenate([triple, new])

    @property
    def _used(self) -> tuple[int, int, int]:
        """Rows of the weights, nodes, edges and triples, that are in use."""
        node, edge, triple = self._weights.trimmed()
        return len(node), len(edge), len(triple)

    @abstractmethod
    def _learn(
        self,
        rows: Rows,
        supervision: Supervision,
        n_labels: int,
        predicted_out: NDArray[np.int32],
        loss_out: NDArray[np.float64],
    ) -> None:
        """Predict, then learn, each sequence, where `n_labels` were known before."""

    @abstractmethod
    def _settle(
        self, wanted: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Give the wanted rows of `weights` as they are now, changing nothing."""

    @abstractmethod
    def _averaging(self) -> tuple[int, float]:
        """Give the plane, and the share of plane 1 taken from it, that predictions are made with."""

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order."""
        known = supervision.labels_known
        before = self._weights.n_labels
        predicted, losses = np.empty(len(supervision.labels), np.int32), np.empty(len(known))
        self._reserve(int(known[-1]), rows.used)
        self._learn(rows, supervision, before, predicted, losses)
        self._seen += len(known)
        return Outcome(predicted, losses, losses > 0)

    def scoring(self, rows: Rows) -> Scoring:
        """Give the active rows of a batch as they are now."""
        node, edge, triple = self._weights.arrays
        node_rows, node = self._compact(rows.node_rows, node, self._metas[0])
        edge_rows, edge = self._compact(rows.edge_rows, edge, self._metas[1])
        triple = self._settle(np.arange(len(triple), dtype=np.int32), triple, self._metas[2])
        compact = rows._replace(node_rows=node_rows, edge_rows=edge_rows)
        return Scoring(compact, Weights(node, edge, triple), self._weights.n_labels, *self._averaging())

    def _compact(
        self, active: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Give the active rows new numbers, and what they hold now."""
        # Row 0 stands first: of the edges it is the plain transitions.
        wanted, numbers = np.unique(np.append(active, np.int32(0)), return_inverse=True)
        unknown = int(wanted[0] < 0)
        compact = (numbers[:-1] - unknown).astype(np.int32)
        return compact, self._settle(wanted[unknown:], weights, meta)

    def weights(self) -> Weights:
        """Give the weights of predictions: node[row, label], edge[row, 1 + y_prev, label]."""
        plane, share = self._averaging()
        found = []
        for kept, weights, meta in zip(
            self._weights.trimmed(), self._weights.arrays, self._metas, strict=True
        ):
            rows, _, slots, n = kept.shape
            now = self._settle(np.arange(rows, dtype=np.int32), weights, meta)[:, :, :slots, :n]
            found.append(now[:, plane] - share * now[:, 1] if share else now[:, plane])
        node, edge, triple = found
        return Weights(node[:, 0], edge, triple)

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Offer nothing."""
        return {}

    def gauges(self) -> Mapping[str, float]:
        """Give nothing."""
        return {}

    def state(self) -> dict[str, Any]:
        """View weights and what is kept beside them."""
        metas = zip(_METAS, self._metas, self._used, strict=True)
        return {"seen": self._seen, "weights": self._weights.state()} | {
            name: meta[:used] for name, meta, used in metas
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._clear()
        self._seen = state["seen"]
        self._weights.restore(state["weights"])
        self._reserve(self._weights.n_labels, self._used[:2])
        for name, meta, used in zip(_METAS, self._metas, self._used, strict=True):
            # Of triples there may be none in the state, or none here (`ChainWeights.restore`).
            if len(state.get(name, ())) == used > 0:
                meta[:used] = state[name]


_METAS = ("node_meta", "edge_meta", "triple_meta")
