"""The interface of a learner: new ones implement it, and nothing else needs to change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.chain.mask import Mask
from streamlearn.kernels.spans import NO_SPANS, SpanMarks
from streamlearn.learners.room import Room


@dataclass(frozen=True, slots=True)
class Supervision:
    """The gold labels of a batch, and how to predict and learn them.

    Attributes
    ----------
    labels : int32[n], gold label numbers.
    labels_known : int32[N], the number of labels known once each sequence has been read; only labels known
        before a sequence are predicted for it.
    importance : float64[N], weight of each sequence.
    mask : which labellings may be predicted, of these labels or more; updates ignore it.
    marks : what these labels, or more, mean for spans.
    """

    labels: NDArray[np.int32]
    labels_known: NDArray[np.int32]
    importance: NDArray[np.float64]
    mask: Mask
    marks: SpanMarks = NO_SPANS


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one call of `learn_many`.

    Attributes
    ----------
    predicted : int32[n], labels predicted before the sequence was learned, as `streamlearn.learners.decoding`
        would have at that moment; -1 before any label was known.
    losses : float64[N], the learner's own loss of each sequence before it was learned.
    updated : bool[N], whether the sequence changed the weights.
    unknown : int64[N], sightings of features without a row in each sequence; counted by the tagger.
    sightings : sightings of features in all sequences; counted by the tagger.
    """

    predicted: NDArray[np.int32]
    losses: NDArray[np.float64]
    updated: NDArray[np.bool_]
    unknown: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    sightings: int = 0


def joined_outcomes(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the results of consecutive calls as those of one."""
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(
        predicted=np.concatenate([each.predicted for each in outcomes]),
        losses=np.concatenate([each.losses for each in outcomes]),
        updated=np.concatenate([each.updated for each in outcomes]),
        unknown=np.concatenate([each.unknown for each in outcomes]),
        sightings=sum(each.sightings for each in outcomes),
    )


@dataclass(frozen=True, slots=True)
class Scoring:
    """Some sequences, and the weights that score their labellings in predictions.

    Attributes
    ----------
    rows : the sequences; their rows are those of `weights`.
    weights : of the planes that predictions need.
    n_labels : number of labels that can be predicted.
    plane, share : predictions are made with this plane, minus `share` times plane 1.
    beam : labels that the search keeps at each position; 0 for an exact search.
    votes : int64[planes], of each plane, if the labelling with the most votes is predicted; else int64[0].
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

    @property
    def room(self) -> Room:
        """How many rows and labels there is room for."""

    @property
    def refused(self) -> int:
        """Changes of weights of pairs of labels for which there was no room."""

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order."""

    def scoring(self, rows: Rows) -> Scoring:
        """Return what `streamlearn.learners.decoding` needs to label sequences; nothing is learned."""

    def weights(self) -> Weights:
        """Return the weights that predict, without the axes of planes and of node's slot."""

    def gauges(self) -> Mapping[str, float]:
        """Return the learner's metrics by name."""

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Return actions that help learning after a concept drift, by name."""

    def rates(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the learning rates of node rows, then of edge rows; 0 where rows have none of their own."""

    def state(self) -> dict[str, Any]:
        """Return everything that learning depends on: plain data, and views of its arrays."""

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
