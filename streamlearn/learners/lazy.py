"""What learners share whose idle rows are brought up to date when they are next needed (lazy updates)."""

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
    """A chain, unless it says otherwise a CRF: the loss of a sequence is −log P(y | x) before its update.

    Parameters
    ----------
    spec : the chain.
    planes : arrays of the weights' shape that are kept.
    notes : numbers kept for each row, 0 while it has never been active.
    """

    is_probabilistic = True

    def __init__(self, spec: ChainSpec, planes: int, notes: int) -> None:
        super().__init__(spec, planes)
        self._notes = notes
        self._clear()

    def _clear(self) -> None:
        self._metas = tuple(zeros((rows, self._notes)) for rows in (*self._spec.max_rows, 0))
        self._seen = 0

    def _reserve(self, n_labels: int, used: tuple[int, int]) -> None:
        super()._reserve(n_labels, used)
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
    def _catch_up(
        self, rows: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return these rows of `weights` as they are now, changing nothing."""

    def _shown(self) -> tuple[int, float]:
        """Return the plane, and the share of plane 1 taken from it, that predictions are made with."""
        return 0, 0.0

    def scoring(self, rows: Rows) -> Scoring:
        """Give the active rows of a batch as they are now."""
        node, edge, triple = self._weights.arrays
        node_rows, node = self._compact(rows.node_rows, node, self._metas[0])
        edge_rows, edge = self._compact(rows.edge_rows, edge, self._metas[1])
        triple = self._catch_up(np.arange(len(triple), dtype=np.int32), triple, self._metas[2])
        compact = rows._replace(node_rows=node_rows, edge_rows=edge_rows)
        return Scoring(compact, Weights(node, edge, triple), self._weights.n_labels, *self._shown())

    def _compact(
        self, active: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Give the active rows new numbers, and what they hold now."""
        # Row 0 stands first: of the edges it is the plain transitions.
        wanted, numbers = np.unique(np.append(active, np.int32(0)), return_inverse=True)
        unknown = int(wanted[0] < 0)
        compact = (numbers[:-1] - unknown).astype(np.int32)
        return compact, self._catch_up(wanted[unknown:], weights, meta)

    def weights(self) -> Weights:
        """Give the weights of predictions: node[row, label], edge[row, 1 + y_prev, label]."""
        plane, share = self._shown()
        found = []
        for kept, weights, meta in zip(
            self._weights.trimmed(), self._weights.arrays, self._metas, strict=True
        ):
            rows, _, slots, n = kept.shape
            now = self._catch_up(np.arange(rows, dtype=np.int32), weights, meta)[:, :, :slots, :n]
            found.append(now[:, plane] - share * now[:, 1] if share else now[:, plane])
        node, edge, triple = found
        return Weights(node[:, 0], edge, triple)

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
