"""Learners with lazy updates: rows that are not active catch up when they are next needed."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.learners.base import Scoring
from streamlearn.learners.chain import ChainLearner, ChainSpec
from streamlearn.learners.weights import zeros


class LazyChain(ChainLearner, ABC):
    """A chain whose rows have metadata: up to where they are up to date, and what else their updates need.

    Unless a subclass changes it, this is a CRF: the loss of a sequence is −log P(y | x) before its update.

    Parameters
    ----------
    spec : the chain.
    planes : arrays of the weights' shape that are kept.
    metadata : numbers kept for each row, 0 while it has never been active.
    scratch_planes : arrays of the weights' shape that are all 0 between sequences.
    """

    is_probabilistic = True

    def __init__(self, spec: ChainSpec, planes: int, metadata: int, scratch_planes: int = 0) -> None:
        super().__init__(spec, planes, scratch_planes)
        self._metadata = metadata
        self._clear()

    def _clear(self) -> None:
        self._metas = tuple(zeros((rows, self._metadata)) for rows in (*self._spec.max_rows, 0))
        self._seen = 0

    def _reserve(self, n_labels: int, rows: Rows) -> None:
        super()._reserve(n_labels, rows)
        self._reserve_contexts()

    def _reserve_contexts(self) -> None:
        node, edge, triple = self._metas
        new = np.zeros((len(self._weights.arrays.triple) - len(triple), self._metadata))
        if len(new):
            self._metas = node, edge, np.concatenate([triple, new])

    @property
    def _used(self) -> tuple[int, int, int]:
        """The rows of nodes, edges and triples in use."""
        node, edge, triple, _ = self._weights.trimmed()
        return len(node), len(edge), len(triple)

    @abstractmethod
    def _catch_up(
        self, rows: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return these rows of `weights`, brought up to date; `weights` do not change."""

    def _prediction_plane(self) -> tuple[int, float]:
        """Return the plane that predicts, and the multiple of plane 1 that is subtracted from it."""
        return 0, 0.0

    def scoring(self, rows: Rows) -> Scoring:
        """Return the active rows of a batch, brought up to date."""
        rows = self._within_room(rows)
        node, edge, triple, _ = self._weights.arrays
        node_rows, node = self._compact(rows.node_rows, node, self._metas[0])
        edge_rows, edge = self._compact(rows.edge_rows, edge, self._metas[1])
        triple = self._catch_up(np.arange(len(triple), dtype=np.int32), triple, self._metas[2])
        compact = rows._replace(node_rows=node_rows, edge_rows=edge_rows)
        weights, n_labels = Weights(node, edge, triple), self._weights.n_labels
        return Scoring(compact, weights, n_labels, *self._prediction_plane())

    def _compact(
        self, active: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the active rows, renumbered, and their weights by the new numbers."""
        # Row 0 is always included, as the first: of the edges it is the plain transitions.
        distinct, numbers = np.unique(np.append(active, np.int32(0)), return_inverse=True)
        unknown = int(distinct[0] < 0)
        compact = (numbers[:-1] - unknown).astype(np.int32)
        return compact, self._catch_up(distinct[unknown:], weights, meta)

    def weights(self) -> Weights:
        """Return the weights of predictions: node[row, label], edge[row, 1 + y_prev, label]."""
        plane, share = self._prediction_plane()
        found = []
        for kept, weights, meta in zip(
            self._weights.trimmed()[:3], self._weights.arrays[:3], self._metas, strict=True
        ):
            rows, _, slots, n = kept.shape
            now = self._catch_up(np.arange(rows, dtype=np.int32), weights, meta)[:, :, :slots, :n]
            found.append(now[:, plane] - share * now[:, 1] if share else now[:, plane])
        node, edge, triple = found
        return Weights(node[:, 0], edge, triple)

    def state(self) -> dict[str, Any]:
        """Return weights and metadata of the rows in use; arrays are views, not copies."""
        metas = zip(_METAS, self._metas, self._used, strict=True)
        return {"seen": self._seen, "weights": self._weights.state()} | {
            name: meta[:used] for name, meta, used in metas
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._clear()
        self._seen = state["seen"]
        self._weights.restore(state["weights"])
        self._reserve_contexts()
        for name, meta, used in zip(_METAS, self._metas, self._used, strict=True):
            # The state, or this chain, may have no triples (`ChainWeights.restore`).
            if len(state.get(name, ())) == used > 0:
                meta[:used] = state[name]


_METAS = ("node_meta", "edge_meta", "triple_meta")
