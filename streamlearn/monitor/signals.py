"""What is watched for changes of the world: one value of each signal for every quantum of sequences."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Signal = Literal["error", "loss", "unknown", "labels"]

# Weight that the histogram of labels keeps from one quantum to the next, and quanta before it can be trusted.
_KEEP, _TRUST = 0.98, 20


class Lesson(NamedTuple):
    """What a batch of N sequences brought, n tokens in all.

    Attributes
    ----------
    starts : int64[N + 1], where each sequence begins.
    gold, predicted : int32[n], label numbers.
    losses : float64[N].
    unknown : int64[N], sightings of unknown features.
    """

    starts: NDArray[np.int64]
    gold: NDArray[np.int32]
    predicted: NDArray[np.int32]
    losses: NDArray[np.float64]
    unknown: NDArray[np.int64]


class Signals:
    """Cuts the stream into quanta, whatever batches it comes in.

    ``error`` is the share of wrong tokens, ``loss`` the learner's loss and ``unknown`` the sightings of
    features without a weight, both by token; ``labels`` is the total variation distance between the gold
    labels of the quantum and of those before, which fade. Each times the length of the quantum: so it is a
    sum over sequences, for which ADWIN's bound is as sharp as if it had seen every one of them.

    Parameters
    ----------
    quantum : sequences in one.

    Examples
    --------
    >>> gold, predicted, unknown = np.array([0, 1]), np.array([0, 0]), np.array([3, 1])
    >>> lesson = Lesson(np.array([0, 1, 2]), gold, predicted, np.zeros(2), unknown)
    >>> [(values["error"], values["unknown"]) for values in Signals(quantum=2).add(lesson)]
    [(1.0, 4.0)]
    """

    def __init__(self, quantum: int) -> None:
        self._quantum = quantum
        # Wrong tokens, tokens, loss and unknown features of each sequence of the quantum that is not full.
        self._open = np.zeros((0, 4))
        self._labels = np.zeros(0, np.int64)
        self._usual = np.zeros(0)
        self._quanta = 0

    def add(self, lesson: Lesson) -> list[dict[str, float]]:
        """Add a batch; give the values of the quanta that it fills, without those not known yet."""
        starts, wrong = lesson.starts, lesson.gold != lesson.predicted
        wrongs = np.add.reduceat(wrong, starts[:-1], dtype=np.int64)
        rows = np.column_stack([wrongs, np.diff(starts), lesson.losses, lesson.unknown]).astype(np.float64)
        filled, first = [], 0
        while first + (room := self._quantum - len(self._open)) <= len(rows):
            self._take(rows[first : first + room], lesson.gold[starts[first] : starts[first + room]])
            filled.append(self._close())
            first += room
        self._take(rows[first:], lesson.gold[starts[first] :])
        return filled

    def _take(self, rows: NDArray[np.float64], gold: NDArray[np.int32]) -> None:
        self._open = np.concatenate([self._open, rows])
        counts = np.bincount(gold, minlength=len(self._labels)).astype(np.int64)
        counts[: len(self._labels)] += self._labels
        self._labels = counts

    def _close(self) -> dict[str, float]:
        # One sum over the same rows in the same order, however they came: the same bits.
        wrong, tokens, loss, unknown = self._open.sum(axis=0).tolist()
        values = {"error": wrong / tokens, "loss": loss / tokens, "unknown": unknown / tokens}
        usual = np.zeros(len(self._labels))
        usual[: len(self._usual)] = self._usual
        if self._quanta >= _TRUST:
            shares = self._labels / self._labels.sum() - usual / usual.sum()
            values["labels"] = 0.5 * float(np.abs(shares).sum())
        self._usual = _KEEP * usual + self._labels
        self._open, self._labels = self._open[:0], np.zeros_like(self._labels)
        self._quanta += 1
        return {signal: self._quantum * value for signal, value in values.items()}

    def state(self) -> dict[str, Any]:
        """Copy what is not finished, and the usual labels."""
        return {
            "open": self._open.copy(),
            "labels": self._labels.copy(),
            "usual": self._usual.copy(),
            "quanta": self._quanta,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        self._open, self._labels = state["open"].copy(), state["labels"].copy()
        self._usual, self._quanta = state["usual"].copy(), state["quanta"]
