"""The contract of a learner: what later ones plug into without touching the loop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.chain.mask import Mask
from streamlearn.kernels.spans import NO_SPANS, SpanMarks


@dataclass(frozen=True, slots=True)
class Supervision:
    """What a batch should have been labelled as.

    Attributes
    ----------
    labels : int32[n], gold label numbers.
    labels_known : int32[N], how many labels exist once each sequence has been read; only labels known
        before a sequence are predicted for it.
    importance : float64[N], weight of each sequence.
    mask : what may be predicted, of these labels or more; updates do not know it.
    marks : what these labels, or more, mean for spans.
    """

    labels: NDArray[np.int32]
    labels_known: NDArray[np.int32]
    importance: NDArray[np.float64]
    mask: Mask
    marks: SpanMarks = NO_SPANS


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call of `learn_many` did.

    Attributes
    ----------
    predicted : int32[n], labels predicted as `streamlearn.learners.decoding` would have at that moment,
        with weights that had not seen the sequence; -1 before any label was known.
    losses : float64[N], the learner's own loss of each sequence before it was learned.
    updated : bool[N], whether the sequence changed the weights.
    unknown : int64[N], sightings of features without a row in each sequence; the tagger counts them.
    """

    predicted: NDArray[np.int32]
    losses: NDArray[np.float64]
    updated: NDArray[np.bool_]
    unknown: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Scoring:
    """What the score of a labelling of some sequences is made of, as predictions see it.

    Attributes
    ----------
    rows : the sequences; their rows are those of `weights`.
    weights : with as many planes as are needed.
    n_labels : how many labels can be predicted.
    plane, share : predictions are made with this plane, minus `share` times plane 1.
    beam : labels that the search keeps at each position; 0 for an exact search.
    votes : int64[planes], of each plane, where the labelling with most votes is predicted; else int64[0].
    """

    rows: Rows
    weights: Weights
    n_labels: int
    plane: int = 0
    share: float = 0.0
    beam: int = 0
    votes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


class Learner(Protocol):
    """Learns one sequence after the other: how a stream is cut into batches never changes the weights."""

    @property
    def is_probabilistic(self) -> bool:
        """Whether exp(score) / Z is meant to be the probability of a labelling."""

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order."""

    def scoring(self, rows: Rows) -> Scoring:
        """Give what `streamlearn.learners.decoding` labels sequences with, changing nothing."""

    def weights(self) -> Weights:
        """Give the weights that predictions are made with, without the axes of planes and of node's slot."""

    def gauges(self) -> Mapping[str, float]:
        """Give what is worth watching, by metric name."""

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Give what can be done for learning after the world has changed, by name."""

    def rates(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the learning rates of node rows, then of edge rows; 0 where rows have none of their own."""

    def state(self) -> dict[str, Any]:
        """Give everything that learning depends on: plain data, and arrays that it goes on to change."""

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
