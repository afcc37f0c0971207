"""The signals monitored for concept drift: one value of each per quantum of sequences."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import Signal
from streamlearn.kernels.drift_sums import fill_quanta

# Share of the label histogram kept from one quantum to the next, and quanta before it is reliable.
_KEEP, _RELIABLE_AFTER = 0.98, 20
_SIGNALS: tuple[Signal, ...] = get_args(Signal)


class LearnedBatch(NamedTuple):
    """A batch of N sequences with n tokens, as predicted and learned.

    Attributes
    ----------
    starts : int64[N + 1], first token of each sequence.
    gold, predicted : int32[n], label numbers.
    losses : float64[N].
    unknown : int64[N], occurrences of unknown features.
    """

    starts: NDArray[np.int64]
    gold: NDArray[np.int32]
    predicted: NDArray[np.int32]
    losses: NDArray[np.float64]
    unknown: NDArray[np.int64]


class Signals:
    """Computes the signals of each quantum, independently of batch sizes.

    ``error`` is the share of wrong tokens; ``loss`` the learner's loss per token; ``unknown`` the occurrences
    of features without a weight per token; ``labels`` the total variation distance between the gold labels of
    the quantum and an exponentially faded histogram of earlier ones. Each is multiplied by the length of the
    quantum: as a sum over sequences, it keeps ADWIN's bound as tight as for single sequences.

    Parameters
    ----------
    quantum : sequences per quantum.

    Examples
    --------
    >>> gold, predicted, unknown = np.array([0, 1]), np.array([0, 0]), np.array([3, 1])
    >>> lesson = LearnedBatch(np.array([0, 1, 2]), gold, predicted, np.zeros(2), unknown)
    >>> [(values["error"], values["unknown"]) for values in Signals(quantum=2).add(lesson)]
    [(1.0, 4.0)]
    """

    def __init__(self, quantum: int) -> None:
        self._quantum = quantum
        # Wrong tokens, tokens, loss, unknown features and sequences of the incomplete quantum.
        self._open = np.zeros(5)
        self._labels = np.zeros(0, np.int64)
        self._usual = np.zeros(0)
        self._quanta = 0

    def add(self, lesson: LearnedBatch) -> list[dict[str, float]]:
        """Add a batch; return the signals of the quanta that it completes, without those not known yet."""
        self._grow(int(lesson.gold.max()) + 1)
        values = np.empty((len(lesson.losses) // self._quantum + 1, len(_SIGNALS)))
        full = fill_quanta(lesson, self._quantum, _KEEP, self._open, self._labels, self._usual, values)
        filled = [dict(zip(_SIGNALS, row, strict=True)) for row in values[:full].tolist()]
        for each in filled[: max(0, _RELIABLE_AFTER - self._quanta)]:
            del each["labels"]
        self._quanta += full
        return filled

    def _grow(self, labels: int) -> None:
        more = labels - len(self._labels)
        if more > 0:
            self._labels = np.concatenate([self._labels, np.zeros(more, np.int64)])
            self._usual = np.concatenate([self._usual, np.zeros(more)])

    def state(self) -> dict[str, Any]:
        """Return the incomplete quantum and the label histogram; copies."""
        return {
            "open": self._open.copy(),
            "labels": self._labels.copy(),
            "usual": self._usual.copy(),
            "quanta": self._quanta,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state, exactly."""
        self._open, self._labels = state["open"].copy(), state["labels"].copy()
        self._usual, self._quanta = np.zeros(len(self._labels)), state["quanta"]
        self._usual[: len(state["usual"])] = state["usual"]
        if self._open.ndim == 2:
            # Older checkpoints contain a row per sequence.
            self._open = np.append(self._open.sum(axis=0), len(self._open))
