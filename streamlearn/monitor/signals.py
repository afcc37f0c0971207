"""What is watched for changes of the world: one value of each signal for every quantum of sequences."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import Signal
from streamlearn.kernels.drift_sums import fill_quanta

# Weight that the histogram of labels keeps from one quantum to the next, and quanta before it can be trusted.
_KEEP, _TRUST = 0.98, 20
_SIGNALS: tuple[Signal, ...] = get_args(Signal)


class LearnedBatch(NamedTuple):
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
    >>> lesson = LearnedBatch(np.array([0, 1, 2]), gold, predicted, np.zeros(2), unknown)
    >>> [(values["error"], values["unknown"]) for values in Signals(quantum=2).add(lesson)]
    [(1.0, 4.0)]
    """

    def __init__(self, quantum: int) -> None:
        self._quantum = quantum
        # Wrong tokens, tokens, loss, unknown features and sequences of the quantum that is not full.
        self._open = np.zeros(5)
        self._labels = np.zeros(0, np.int64)
        self._usual = np.zeros(0)
        self._quanta = 0

    def add(self, lesson: LearnedBatch) -> list[dict[str, float]]:
        """Add a batch; give the values of the quanta that it fills, without those not known yet."""
        self._grow(int(lesson.gold.max()) + 1)
        values = np.empty((len(lesson.losses) // self._quantum + 1, len(_SIGNALS)))
        full = fill_quanta(lesson, self._quantum, _KEEP, self._open, self._labels, self._usual, values)
        filled = [dict(zip(_SIGNALS, row, strict=True)) for row in values[:full].tolist()]
        for each in filled[: max(0, _TRUST - self._quanta)]:
            del each["labels"]
        self._quanta += full
        return filled

    def _grow(self, labels: int) -> None:
        more = labels - len(self._labels)
        if more > 0:
            self._labels = np.concatenate([self._labels, np.zeros(more, np.int64)])
            self._usual = np.concatenate([self._usual, np.zeros(more)])

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
        self._usual, self._quanta = np.zeros(len(self._labels)), state["quanta"]
        self._usual[: len(state["usual"])] = state["usual"]
        if self._open.ndim == 2:
            # Older checkpoints hold a row for each sequence.
            self._open = np.append(self._open.sum(axis=0), len(self._open))
