"""How much the weights changed recently: gauges that show whether learning converges."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

# Sequences in the first interval.
_INTERVAL = 2000
# Weights in the sample, half of them in the first rows: the frequent features.
_SAMPLE = 1 << 15
# Share of the learning time that measuring may take.
_COST = 0.01

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


class Model(Protocol):
    """The model whose weights are measured."""

    @property
    def rows_used(self) -> tuple[int, int]:
        """Rows of the node and of the edge weights that are in use."""

    def weights_of(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> Pair:
        """Return the prediction weights of some rows: node[row, label], edge[row, 1 + y_prev, label]."""


class Convergence:
    """Compares the weights at the start and the end of each interval of the stream.

    Of a large model it measures a sample: the first rows, which are the frequent features, and every n-th of
    the others, whose squares count n times. Whenever measuring takes more than 1 % of the learning time of
    the interval, the interval length doubles.

    Parameters
    ----------
    clock : returns CPU seconds of the thread: time given to other processes does not count.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._interval = _INTERVAL
        self._sequences, self._seconds = 0, 0.0
        self._before: tuple[_Sample, _Sample] | None = None
        self._gauges: dict[str, float] = {}

    def add(self, sequences: int, seconds: float) -> None:
        """Record that `sequences` more were learned in `seconds`."""
        self._sequences += sequences
        self._seconds += seconds

    @property
    def is_due(self) -> bool:
        """Whether the interval has ended, so that `compare` should be called."""
        return self._sequences >= self._interval

    def compare(self, model: Model) -> None:
        """Measure the current weights and start the next interval; the first time there is only a norm."""
        begin = self._clock()
        cells = self._cells(model)
        rows = [_chosen(used, size) for used, size in zip(model.rows_used, cells, strict=True)]
        node, edge = model.weights_of(rows[0][0], rows[1][0])
        now = _Sample(*rows[0], node), _Sample(*rows[1], edge)
        norm = _norm(sum(sample.squares() for sample in now))
        gauges = {"weights_norm": norm}
        if self._before is not None:
            change = _norm(sum(one.change(other) for one, other in zip(now, self._before, strict=True)))
            gauges |= {
                "update_norm": change,
                "weight_delta_ratio": change / norm if norm else 0.0,
                "weight_delta_sequences": float(self._sequences),
            }
        self._gauges = gauges
        self._before = now
        if self._sequences and self._clock() - begin > _COST * self._seconds:
            self._interval *= 2
        self._sequences, self._seconds = 0, 0.0

    def _cells(self, model: Model) -> tuple[int, int]:
        """Return the number of weights in one row of each table."""
        nothing = np.empty(0, np.int32)
        node, edge = model.weights_of(nothing, nothing)
        return int(np.prod(node.shape[1:])), int(np.prod(edge.shape[1:]))

    def gauges(self) -> Mapping[str, float]:
        """Return ‖w‖, the norm of its change, their ratio and the interval's length, as far as known."""
        return self._gauges


class _Sample(NamedTuple):
    """Sampled rows, the number of rows that each represents, and their weights."""

    rows: NDArray[np.int32]
    counts: NDArray[np.float64]
    weights: NDArray[np.float64]

    def squares(self) -> float:
        return _weighed(self.weights, self.counts)

    def change(self, before: "_Sample") -> float:
        """Return the squared norm of the change; rows and labels that did not exist count as 0."""
        change = self.weights.copy()
        _, here, there = np.intersect1d(self.rows, before.rows, assume_unique=True, return_indices=True)
        known: tuple[Any, ...] = (here, *(slice(size) for size in before.weights.shape[1:]))
        change[known] -= before.weights[there]
        return _weighed(change, self.counts)


def _chosen(used: int, cells: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Choose the first rows, with about half the sample's weights, and rows evenly spread over the others.

    All numbers are powers of two: when rows or labels are added, the chosen old rows were chosen before.
    """
    first = 1
    while 4 * first * max(cells, 1) <= _SAMPLE:
        first *= 2
    step = 1
    while used > first + step * first:
        step *= 2
    others = np.arange(max(first, step), used, step)
    rows = np.concatenate([np.arange(min(used, first)), others]).astype(np.int32)
    return rows, np.repeat([1.0, float(step)], [len(rows) - len(others), len(others)])


def _weighed(weights: NDArray[np.float64], counts: NDArray[np.float64]) -> float:
    return float(counts @ np.square(weights).sum(axis=tuple(range(1, weights.ndim))))


def _norm(squares: float) -> float:
    return math.sqrt(squares) if math.isfinite(squares) else math.inf
