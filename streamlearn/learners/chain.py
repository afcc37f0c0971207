"""What the learners of a linear chain share: weights, and one pass over each batch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import Average
from streamlearn.data import Rows
from streamlearn.kernels.features.table import ABSENT
from streamlearn.kernels.updates.averaging import (
    AVERAGE_ALL,
    AVERAGE_EXPONENTIAL,
    AVERAGE_NONE,
    Averaging,
)
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.learners.base import Outcome, Supervision
from streamlearn.learners.room import Room
from streamlearn.learners.weights import ChainWeights

_AVERAGES: dict[Average, int] = {
    "none": AVERAGE_NONE,
    "all": AVERAGE_ALL,
    "exponential": AVERAGE_EXPONENTIAL,
}


def averaging_of(average: Average, half_life: float) -> Averaging:
    """Return how predictions average the weights; `half_life` of the exponential average, in sequences."""
    return Averaging(_AVERAGES[average], half_life)


# Weights that an update changes in a row of pairs: of two labels, and of four pairs of them.
_CHANGES = 6


class ChainSpec(NamedTuple):
    """The chain that a learner is made for.

    Attributes
    ----------
    max_rows : rows of the node and of the edge table.
    memory : bytes for weights and all arrays of their shape.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too.
    """

    max_rows: tuple[int, int]
    memory: int
    plain_edges: bool = True
    second_order: bool = False


class ChainLearner(ABC):
    """A learner whose weights are those of a chain.

    Parameters
    ----------
    spec : the chain.
    planes : arrays of the weights' shape that are kept.
    scratch_planes : others that are all 0 between sequences.
    """

    is_probabilistic = False
    # Whether rows of pairs may be lists of cells: if updates change few weights.
    has_cells = False

    def __init__(self, spec: ChainSpec, planes: int, scratch_planes: int = 0) -> None:
        self._spec = spec
        self.room = Room(
            spec.memory, planes + scratch_planes, spec.max_rows, spec.second_order, self.has_cells
        )
        self._weights = ChainWeights(self.room, planes)
        self._seen = 0

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order."""
        known = supervision.labels_known
        n_labels = self._weights.n_labels
        self._reserve(int(known[-1]), rows)
        batch = Pass(
            self._within_room(rows),
            supervision.labels,
            known,
            supervision.importance,
            n_labels,
            self._spec.plain_edges,
            supervision.mask,
            supervision.marks,
            predicted_out=np.empty(len(supervision.labels), np.int32),
            loss_out=np.empty(len(known)),
        )
        self._learn(batch)
        self._seen += len(known)
        return Outcome(batch.predicted_out, batch.loss_out, batch.loss_out > 0)

    @abstractmethod
    def _learn(self, batch: Pass) -> None:
        """Predict, then learn, each sequence; `self._seen` sequences were learned before."""

    def _reserve(self, n_labels: int, rows: Rows) -> None:
        """Make room for the labels and rows that a batch brings."""
        self._weights.reserve(n_labels, rows.used, _CHANGES * len(rows.edge_rows))

    def _within_room(self, rows: Rows) -> Rows:
        """Return rows, with those that were dropped when labels came as unknown ones."""
        node, edge = self.room.rows(self._weights.n_labels)
        if rows.used[0] <= node and rows.used[1] <= edge:
            return rows
        return rows._replace(
            node_rows=np.where(rows.node_rows < node, rows.node_rows, ABSENT),
            edge_rows=np.where(rows.edge_rows < edge, rows.edge_rows, ABSENT),
        )

    @property
    def refused(self) -> int:
        """Changes of weights of pairs of labels for which there was no room."""
        return int(self._weights.arrays.cells.counts[1])

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Return no remedies."""
        return {}

    def gauges(self) -> Mapping[str, float]:
        """Return no gauges."""
        return {}

    def rates(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return 0 for each row: rows have no learning rates of their own."""
        return np.zeros(len(node_rows) + len(edge_rows))

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return everything that learning depends on; arrays are views, not copies."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
