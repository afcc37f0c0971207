"""A second look at recent sequences: what takes one pass over a stream close to many passes over a file.

Not from a paper on these learners; experience replay (Lin 1992) is the idea's name elsewhere. Each record is
still consumed once: the looks go back to a bounded window of what was learned, which is part of the state.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.updates.interleave import interleave, take_positions, take_rows
from streamlearn.learners.base import Learner, Outcome, Scoring, Supervision


class _Pool(NamedTuple):
    """Sequences, one after the other: their active rows, label numbers and weights."""

    rows: Rows
    labels: NDArray[np.int32]
    importance: NDArray[np.float64]


def _joined(old: _Pool, new: _Pool) -> _Pool:
    def ends(one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([one, two[1:] + one[-1]])

    before, after = old.rows, new.rows
    values = after.node_values
    if before.node_values.size or after.node_values.size:
        values = np.concatenate([_values(before), _values(after)])
    rows = after._replace(
        starts=ends(before.starts, after.starts),
        node_starts=ends(before.node_starts, after.node_starts),
        node_rows=np.concatenate([before.node_rows, after.node_rows]),
        node_values=values,
        edge_starts=ends(before.edge_starts, after.edge_starts),
        edge_rows=np.concatenate([before.edge_rows, after.edge_rows]),
    )
    labels = np.concatenate([old.labels, new.labels])
    return _Pool(rows, labels, np.concatenate([old.importance, new.importance]))


def _values(rows: Rows) -> NDArray[np.float64]:
    return rows.node_values if rows.node_values.size else np.ones(rows.node_rows.size)


def _taken(pool: _Pool, order: NDArray[np.int64]) -> _Pool:
    """Return the chosen sequences in the order of choice."""
    rows = pool.rows
    lengths = np.diff(rows.starts)[order]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.empty(int(starts[-1]), np.int32)
    take_positions(order, rows.starts, pool.labels, labels)
    node_starts, node_rows = _taken_rows(rows.starts, order, len(labels), rows.node_starts, rows.node_rows)
    edge_starts, edge_rows = _taken_rows(rows.starts, order, len(labels), rows.edge_starts, rows.edge_rows)
    values = rows.node_values
    if values.size:
        _, values = _taken_rows(rows.starts, order, len(labels), rows.node_starts, values)
        if (values == 1.0).all():
            values = values[:0]
    taken = Rows(starts, node_starts, node_rows, values, edge_starts, edge_rows, rows.edge_singles, rows.used)
    return _Pool(taken, labels, pool.importance[order])


def _taken_rows(
    sequences: NDArray[np.int64],
    order: NDArray[np.int64],
    positions: int,
    starts: NDArray[np.int64],
    rows: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    first, last = starts[sequences[order]], starts[sequences[order + 1]]
    starts_out = np.empty(positions + 1, np.int64)
    rows_out = np.empty(int((last - first).sum()) if rows.size else 0, rows.dtype)
    if rows.size:
        take_rows(order, sequences, starts, rows, starts_out, rows_out)
    else:
        starts_out[:] = 0
    return starts_out, rows_out


_ZERO, _NO_ROWS = np.zeros(1, np.int64), np.empty(0, np.int32)
_NOTHING = _Pool(
    Rows(_ZERO, _ZERO, _NO_ROWS, np.empty(0), _ZERO, _NO_ROWS, edge_singles=0, used=(0, 0)),
    labels=np.empty(0, np.int32),
    importance=np.empty(0),
)


class Replay:
    """Lets a learner look again at recent sequences: after each new one, at `looks` drawn ones before it.

    What is drawn depends on the number of the sequence in the stream alone, so that neither the size of a
    batch nor a restart changes it. Looks count as sequences in the learner's windows, averages and
    half-lives, but not in the losses and updates that it tells of.

    Parameters
    ----------
    learner : any learner.
    tokens : how many tokens of the recent past are kept; each costs 4 bytes for each of its features.
    looks : how many sequences are looked at again after each new one.
    """

    def __init__(self, learner: Learner, tokens: int, looks: int) -> None:
        self._learner = learner
        self._tokens = tokens
        self._looks = looks
        self._count = 0
        self._pool = _NOTHING

    def learn_many(self, rows: Rows, supervision: Supervision) -> Outcome:
        """Predict, then learn, each sequence in order, each followed by its looks."""
        new = _Pool(rows, supervision.labels, supervision.importance)
        pool = _joined(self._pool, new)
        first, size = len(self._pool.importance), len(new.importance)
        order = np.empty(size * (1 + self._looks), np.int64)
        order = order[: interleave(pool.rows.starts, first, self._count, self._tokens, self._looks, order)]
        chosen = _taken(pool, order)
        is_new = _first_sightings(order, first)
        known = supervision.labels_known[np.cumsum(is_new) - 1]
        outcome = self._learner.learn_many(
            chosen.rows,
            Supervision(chosen.labels, known, chosen.importance, supervision.mask, supervision.marks),
        )
        self._count += size
        self._pool = self._recent(pool)
        fresh = np.repeat(is_new, np.diff(chosen.rows.starts))
        return Outcome(outcome.predicted[fresh], outcome.losses[is_new], outcome.updated[is_new])

    def _recent(self, pool: _Pool) -> _Pool:
        starts = pool.rows.starts
        low = int(np.searchsorted(starts, starts[-1] - self._tokens))
        return _taken(pool, np.arange(low, len(pool.importance)))

    @property
    def is_probabilistic(self) -> bool:
        """Whether the learner knows probabilities."""
        return self._learner.is_probabilistic

    def scoring(self, rows: Rows) -> Scoring:
        """Give what the learner labels sequences with."""
        return self._learner.scoring(rows)

    def weights(self) -> Weights:
        """Give the weights that predictions are made with."""
        return self._learner.weights()

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Offer what the learner offers."""
        return self._learner.remedies()

    def gauges(self) -> Mapping[str, float]:
        """Give the learner's gauges."""
        return self._learner.gauges()

    def rates(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the learner's rates."""
        return self._learner.rates(node_rows, edge_rows)

    def state(self) -> dict[str, Any]:
        """View the learner's state and what is kept for looks."""
        rows = {name: getattr(self._pool.rows, name) for name in _SAVED_ROWS}
        pool = rows | {"labels": self._pool.labels, "importance": self._pool.importance}
        return {"count": self._count, "pool": pool, "learner": self._learner.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._count = state["count"]
        pool = {name: array.copy() for name, array in state["pool"].items()}
        rows = _NOTHING.rows._replace(**{name: pool[name] for name in _SAVED_ROWS})
        self._pool = _Pool(rows, pool["labels"], pool["importance"])
        self._learner.restore(state["learner"])


_SAVED_ROWS = ("starts", "node_starts", "node_rows", "node_values", "edge_starts", "edge_rows")


def _first_sightings(order: NDArray[np.int64], first: int) -> NDArray[np.bool_]:
    """Tell which of `order` are new: those from `first` on that no earlier one reaches."""
    top = np.maximum.accumulate(np.concatenate([[first - 1], order]))
    return order > top[:-1]
