"""A tagger: labels, features and a learner as one thing that learns from examples and labels them."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import DataScheme, MarginalsOf, Scheme
from streamlearn.data import Batch, Example, Prediction, Rows
from streamlearn.features.batches import cut
from streamlearn.features.encoder import EncodedBatch, Encoder
from streamlearn.features.labels import LabelSet
from streamlearn.features.space import FeatureSpace
from streamlearn.kernels.features.unknown import count_unknown
from streamlearn.learners.base import Learner, Outcome, Supervision, joined_outcomes
from streamlearn.learners.constraint import Constraint
from streamlearn.learners.decoding import Decoder
from streamlearn.learners.gold_scheme import GoldScheme
from streamlearn.learners.room import Room
from streamlearn.learners.span_marks import SpanMarkReader
from streamlearn.learners.weights import edge_weights, largest


class Tagger:
    """Learns from examples and labels them.

    One thread may encode while another learns the batch before: the two share no array.

    Parameters
    ----------
    encoder, labels, space : as connected by `streamlearn.app`.
    learner : any learner of chains.
    constraint : what may be predicted; everything if not given.
    data_scheme : the scheme of the labels to return; None returns those of the model, and "auto" writes as
        most of the sequences learned.

    Attributes
    ----------
    scheme : of the labels of the data.
    """

    def __init__(
        self,
        encoder: Encoder,
        labels: LabelSet,
        space: FeatureSpace,
        learner: Learner,
        constraint: Constraint | None = None,
        data_scheme: DataScheme | None = None,
    ) -> None:
        self._encoder = encoder
        self._labels = labels
        self._space = space
        self._learner = learner
        self._constraint = constraint or Constraint()
        self.scheme = GoldScheme(labels, data_scheme, self._constraint.scheme)
        self._span_marks = SpanMarkReader()
        # Encoding is ahead of learning; a state contains only the labels that were learned.
        self._n_labels = len(labels.names)

    @property
    def labels(self) -> Sequence[str]:
        """Label names of the model by number; the list only grows."""
        return self._labels.names

    @property
    def unreachable(self) -> list[str]:
        """The known labels that the constraint excludes from every labelling, because others are missing."""
        return self._constraint.unreachable(self._labels.names)

    @property
    def constraint(self) -> Scheme:
        """The scheme in which predictions are valid."""
        return self._constraint.scheme

    @property
    def is_probabilistic(self) -> bool:
        """Whether the learner is probabilistic."""
        return self._learner.is_probabilistic

    @property
    def room(self) -> Room:
        """How many features and labels there is room for."""
        return self._learner.room

    def mapped(self, labels: Sequence[str]) -> list[str]:
        """Return what labels of the data are mapped to, in their own scheme."""
        return [self._labels.mapped(label) for label in labels]

    def encode(self, examples: Sequence[Example], learn: bool = True) -> EncodedBatch:
        """Encode examples; if they are to be learned, new labels are numbered. Nothing else changes."""
        return EncodedBatch(*self._encoder.encode(examples, learn))

    def learn_batch(self, batch: Batch) -> Outcome:
        """Predict, then learn, each sequence of a batch in order."""
        return joined_outcomes([self._learn_part(part) for part in self._parts(batch)])

    def _parts(self, batch: Batch) -> list[Batch]:
        """Cut a batch before each sequence with new labels, if these change what there is room for."""
        room, known = self._learner.room, batch.labels_known
        last = int(known[-1])
        same = room.sparse(last) == room.sparse(self._n_labels)
        if last == self._n_labels or (same and self._space.fits(batch, room.rows(last))):
            return [batch]
        places = np.flatnonzero(np.diff(known, prepend=self._n_labels))
        return cut(batch, [place for place in places.tolist() if place])

    def _learn_part(self, batch: Batch) -> Outcome:
        """Learn sequences, all of which are learned with the room of the last one."""
        before = self._space.sizes
        n_labels = int(batch.labels_known[-1])
        rows = self._space.rows(batch, grow=True, room=self._learner.room.rows(n_labels))
        unknown = np.zeros(len(batch.labels_known), np.int64)
        count_unknown(batch.starts, rows.node_starts, rows.node_rows, before[0], unknown)
        count_unknown(batch.starts, rows.edge_starts, rows.edge_rows, before[1], unknown)
        # Encoding is ahead in another thread: there may be more names than when this batch was encoded.
        names = self._labels.names[:n_labels]
        mask, marks = self._constraint.mask(names), self._span_marks.marks(names)
        outcome = self._learner.learn_many(
            rows, Supervision(batch.labels, batch.labels_known, batch.importance, mask, marks)
        )
        self._n_labels = n_labels
        self.scheme.add(batch.evidence)
        return replace(
            outcome,
            predicted=self._valid(outcome.predicted, batch.starts, names),
            unknown=unknown,
            sightings=rows.node_rows.size + rows.edge_rows.size,
        )

    def learn_many(self, examples: Sequence[Example]) -> list[list[str] | None]:
        """Learn labelled examples, each once, in order.

        Returns
        -------
        The prediction for each before it was learned: T labels, or None where there was no valid one.

        Raises
        ------
        RecordError : an example has no labels, or not all columns; nothing was learned then.
        """
        encoded = self.encode(examples)
        if encoded.rejected:
            raise encoded.rejected[0][1]
        if not examples:
            return []
        return self._split(encoded.batch, self.learn_batch(encoded.batch).predicted)

    def learn_one(self, x: Example, y: Sequence[str]) -> None:
        """Learn one sequence `x` with its T labels `y`."""
        self.learn_many([Example(x.columns, list(y), x.features, x.id, x.weight)])

    def predict_many(self, examples: Sequence[Example]) -> list[list[str] | None]:
        """Label examples; nothing is learned. None where the known labels allow no valid labelling.

        Raises
        ------
        RecordError : a column of an example is missing.
        ValueError : no label is known yet.
        """
        if not examples:
            return []
        encoded = self.encode(examples, learn=False)
        if encoded.rejected:
            raise encoded.rejected[0][1]
        return self.label_batch(encoded.batch)

    def label_batch(self, batch: Batch) -> list[list[str] | None]:
        """Label the sequences of an encoded batch as `predict_many` does."""
        return self._split(batch, self.predict_batch(batch))

    def predict_one(self, x: Example) -> list[str] | None:
        """Label one sequence as `predict_many` does; nothing is learned."""
        return self.predict_many([x])[0]

    def explain_batch(
        self, batch: Batch, *, marginals: MarginalsOf = "none", k_best: int = 0
    ) -> list[Prediction | None]:
        """Label the sequences of an encoded batch, with probabilities and alternatives; nothing is learned.

        None where the known labels allow no valid labelling.

        Parameters
        ----------
        marginals : include probabilities of the predicted labels or of all, of a probabilistic learner.
        k_best : include up to this number of the best labellings; 0 for the best only.

        Raises
        ------
        ValueError : no label is known yet.
        """
        decoder, names = self._decoder(batch), self._labels.names
        path = decoder.best()
        found = decoder.predictions(
            path, names, marginals=marginals, k_best=k_best, probabilistic=self.is_probabilistic
        )
        forbidden = self._constraint.forbids(names, path, batch.starts).tolist()
        return [
            None if is_forbidden else self._in_data_scheme(one)
            for one, is_forbidden in zip(found, forbidden, strict=True)
        ]

    def _in_data_scheme(self, found: Prediction) -> Prediction:
        if not self.scheme.is_converted:
            return found
        several = found.alternatives and [
            replace(one, labels=self.scheme.restored(one.labels)) for one in found.alternatives
        ]
        return replace(found, labels=self.scheme.restored(found.labels), alternatives=several)

    def predict_batch(self, batch: Batch) -> NDArray[np.int32]:
        """Return the label number of every position of an encoded batch; -1 without a valid labelling."""
        return self._valid(self._decoder(batch).best(), batch.starts, self._labels.names)

    def _valid(
        self, predicted: NDArray[np.int32], starts: NDArray[np.int64], names: Sequence[str]
    ) -> NDArray[np.int32]:
        """Return predictions with -1 in place of what the constraint forbids.

        Where it forbids everything, as with ``I-X`` only, the search ignores it.
        """
        forbidden = self._constraint.forbids(names, predicted, starts)
        if not forbidden.any():
            return predicted
        return np.where(np.repeat(forbidden, np.diff(starts)), np.int32(-1), predicted)

    def _decoder(self, batch: Batch) -> Decoder:
        scoring = self._learner.scoring(self._space.rows(batch, grow=False))
        return Decoder(scoring, self._constraint.mask(self._labels.names[: scoring.n_labels]))

    def _split(self, batch: Batch, predicted: NDArray[np.int32]) -> list[list[str] | None]:
        names = self._labels.names
        paths = (predicted[a:b].tolist() for a, b in zip(batch.starts, batch.starts[1:], strict=False))
        return [self.scheme.restored([names[y] for y in path]) if path[0] >= 0 else None for path in paths]

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Return the learner's actions against concept drift, by name."""
        return self._learner.remedies()

    def gauges(self) -> Mapping[str, float]:
        """Return the metrics of the feature space, the labels and the learner, by name."""
        return {
            "features_known": float(sum(self._space.sizes)),
            "features_refused": float(self._space.refused + self._learner.refused),
            "labels_known": float(self._n_labels),
            **self._learner.gauges(),
        }

    @property
    def rows_used(self) -> tuple[int, int]:
        """Rows of the node and of the edge weights that are in use."""
        room = self._learner.room.rows(self._n_labels)
        return min(self._space.sizes[0], room[0]), min(self._space.sizes[1], room[1])

    def weights_of(
        self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights that predict, of some rows: node[row, label], edge[row, 1 + y_prev, label]."""
        nothing = np.empty(0, np.int64)
        rows = Rows(nothing, nothing, node_rows, np.empty(0), nothing, edge_rows, 0, self.rows_used)
        scoring = self._learner.scoring(rows)
        n = scoring.n_labels
        node = scoring.weights.node[scoring.rows.node_rows, :, 0, :n]
        edge = edge_weights(scoring.weights, scoring.rows.edge_rows)[:, :, : 1 + n, :n]
        if scoring.share:
            node[:, scoring.plane] -= scoring.share * node[:, 1]
            edge[:, scoring.plane] -= scoring.share * edge[:, 1]
        return node[:, scoring.plane], edge[:, scoring.plane]

    def rates_of(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the learning rates of node rows, then of edge rows; 0 where rows have none of their own."""
        return self._learner.rates(node_rows, edge_rows)

    def heaviest(self, label: str, count: int) -> list[tuple[str, float]]:
        """Return the features with the largest |weight| for a label, by name, largest first."""
        y = self._labels.names.index(label)
        node, edge = self._learner.weights()[:2]
        if y >= node.shape[1]:
            return []
        found = [(float(node[row, y]), self._space.node_name(row)) for row in largest(node[:, y], count)]
        found += [
            (float(edge[row, 0, y]), self._space.edge_name(row)) for row in largest(edge[:, 0, y], count)
        ]
        found.sort(key=lambda pair: -abs(pair[0]))
        return [(name, weight) for weight, name in found[:count] if weight]

    def state(self) -> dict[str, Any]:
        """Return a copy of everything that learning depends on: plain data and arrays."""
        state: dict[str, Any] = deepcopy(self.view())
        return state

    def view(self) -> dict[str, Any]:
        """Return the same without a copy, to be copied before learning continues.

        Arrays that are not writable need no copy: their values no longer change.
        """
        return {
            "labels": self._labels.names[: self._n_labels],
            "evidence": self.scheme.view(),
            "features": self._space.state(),
            "learner": self._learner.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._labels.restore(state["labels"])
        self._n_labels = len(state["labels"])
        self.scheme.restore(state)
        self._space.restore(state["features"])
        self._learner.restore(state["learner"])
