"""Experience replay: learning recent sequences again brings one pass over a stream close to many over a file.

This is not from a paper on these learners; the name is from reinforcement learning (Lin 1992). Each record is
consumed only once: replayed sequences come from a bounded window of recent ones, which is part of the state.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.updates.interleave import interleave, take_positions, take_rows
from streamlearn.learners.base import Learner, Outcome, Scoring, Supervision
from streamlearn.learners.room import Room

# What a state holds of the rows of recent sequences.
_SAVED = ("starts", "node_starts", "node_rows", "node_values", "edge_starts", "edge_rows")


class _Sequences(NamedTuple):
    """Sequences as their active rows, labels and importance, one after the other."""

    rows: Rows
    labels: NDArray[np.int32]
    importance: NDArray[np.float64]

    def with_values(self) -> "_Sequences":
        """Return the same with the values of node rows written out, where none means that all are 1."""
        if self.rows.node_values.size:
            return self
        return self._replace(rows=self.rows._replace(node_values=np.ones(self.rows.node_rows.size)))

    def followed_by(self, other: "_Sequences") -> "_Sequences":
        """Return these sequences and then the others."""
        one, two = self, other
        if one.rows.node_values.size or two.rows.node_values.size:
            one, two = one.with_values(), two.with_values()

        def joined(name: str) -> NDArray[Any]:
            first, second = getattr(one.rows, name), getattr(two.rows, name)
            # Boundaries begin at 0 in both.
            parts = [first, second[1:] + first[-1]] if name.endswith("starts") else [first, second]
            return np.concatenate(parts)

        rows: dict[str, Any] = {name: joined(name) for name in _SAVED}
        return _Sequences(
            two.rows._replace(**rows),
            np.concatenate([one.labels, two.labels]),
            np.concatenate([one.importance, two.importance]),
        )

    def chosen(self, order: NDArray[np.int64]) -> "_Sequences":
        """Return the sequences with these numbers, in this order."""
        rows = self.rows
        starts = np.concatenate([[0], np.cumsum(np.diff(rows.starts)[order])])
        labels = np.empty(int(starts[-1]), np.int32)
        take_positions(order, rows.starts, self.labels, labels)
        node_starts, node_rows = self._chosen_rows(order, len(labels), rows.node_starts, rows.node_rows)
        edge_starts, edge_rows = self._chosen_rows(order, len(labels), rows.edge_starts, rows.edge_rows)
        values = rows.node_values
        if values.size:
            _, values = self._chosen_rows(order, len(labels), rows.node_starts, values)
            if (values == 1.0).all():
                values = values[:0]
        chosen = rows._replace(
            starts=starts, node_starts=node_starts, node_rows=node_rows, node_values=values,
            edge_starts=edge_starts, edge_rows=edge_rows,
        )  # fmt: skip
        return _Sequences(chosen, labels, self.importance[order])

    def _chosen_rows(
        self, order: NDArray[np.int64], positions: int, starts: NDArray[np.int64], rows: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        sequences = self.rows.starts
        first, last = starts[sequences[order]], starts[sequences[order + 1]]
        starts_out = np.zeros(positions + 1, np.int64)
        rows_out = np.empty(int((last - first).sum()) if rows.size else 0, rows.dtype)
        if rows.size:
            take_rows(order, sequences, starts, rows, starts_out, rows_out)
        return starts_out, rows_out

    def state(self) -> dict[str, NDArray[Any]]:
        rows = {name: getattr(self.rows, name) for name in _SAVED}
        return rows | {"labels": self.labels, "importance": self.importance}


def _restored(state: dict[str, NDArray[Any]]) -> _Sequences:
    rows: dict[str, Any] = {name: state[name].copy() for name in _SAVED}
    return _Sequences(_NONE.rows._replace(**rows), state["labels"].copy(), state["importance"].copy())


_NO_STARTS, _NO_ROWS = np.zeros(1, np.int64), np.empty(0, np.int32)
_NONE = _Sequences(
    Rows(_NO_STARTS, _NO_STARTS, _NO_ROWS, np.empty(0), _NO_STARTS, _NO_ROWS, edge_singles=0, used=(0, 0)),
    _NO_ROWS,
    np.empty(0),
)


class Replay:
    """Replays recent sequences to a learner: after each new one, `looks` drawn from those before it.

    The draw depends only on the number of the sequence in the stream, so that neither the size of a batch nor
    a restart changes it. Replayed sequences count in the learner's windows, averages and half-lives, but not
    in the losses and updates that are reported.

    Parameters
    ----------
    learner : any learner.
    tokens : recent tokens that are kept; each costs 4 bytes for each of its features.
    looks : sequences that are replayed after each new one.
    """

    def __init__(self, learner: Learner, tokens: int, looks: int) -> None:
        self._learner = learner
        self._tokens = tokens
        self._looks = looks
        self._count = 0
        self._recent = _NONE

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order, each followed by replayed ones."""
        first, size = len(self._recent.importance), len(supervision.importance)
        pool = self._recent.followed_by(_Sequences(rows, supervision.labels, supervision.importance))
        order = np.empty(size * (1 + self._looks), np.int64)
        order = order[: interleave(pool.rows.starts, first, self._count, self._tokens, self._looks, order)]
        chosen = pool.chosen(order)
        is_new = _first_sightings(order, first)
        known = supervision.labels_known[np.cumsum(is_new) - 1]
        outcome = self._learner.learn_many(
            chosen.rows,
            Supervision(chosen.labels, known, chosen.importance, supervision.mask, supervision.marks),
        )
        self._count += size
        oldest = int(np.searchsorted(pool.rows.starts, pool.rows.starts[-1] - self._tokens))
        self._recent = pool.chosen(np.arange(oldest, len(pool.importance)))
        in_new = np.repeat(is_new, np.diff(chosen.rows.starts))
        return Outcome(outcome.predicted[in_new], outcome.losses[is_new], outcome.updated[is_new])

    @property
    def room(self) -> Room:
        """The learner's room."""
        return self._learner.room

    @property
    def refused(self) -> int:
        """What the learner refused."""
        return self._learner.refused

    @property
    def is_probabilistic(self) -> bool:
        """Whether the learner is probabilistic."""
        return self._learner.is_probabilistic

    def scoring(self, rows: Rows) -> Scoring:
        """Return what the learner labels sequences with."""
        return self._learner.scoring(rows)

    def weights(self) -> Weights:
        """Return the weights that predictions are made with."""
        return self._learner.weights()

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Return the learner's remedies."""
        return self._learner.remedies()

    def gauges(self) -> Mapping[str, float]:
        """Return the learner's gauges."""
        return self._learner.gauges()

    def rates(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the learner's rates."""
        return self._learner.rates(node_rows, edge_rows)

    def state(self) -> dict[str, Any]:
        """Return the learner's state and the recent sequences; arrays are views, not copies."""
        return {"count": self._count, "pool": self._recent.state(), "learner": self._learner.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._count = state["count"]
        self._recent = _restored(state["pool"])
        self._learner.restore(state["learner"])


def _first_sightings(order: NDArray[np.int64], first: int) -> NDArray[np.bool_]:
    """Return which of `order` are new: those from `first` on, where each occurs for the first time."""
    top = np.maximum.accumulate(np.concatenate([[first - 1], order]))
    return order > top[:-1]
