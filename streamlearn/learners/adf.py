"""Linear-chain CRF trained by ADF (Sun, Li, Wang & Li 2014)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Rows
from streamlearn.kernels.updates import adf
from streamlearn.learners.averaged import AVERAGES, Average
from streamlearn.learners.base import Supervision
from streamlearn.learners.lazy import LazyChain

QUANTILES = ("0.1", "0.5", "0.9")
# Rows whose rates are looked at for a gauge.
_SAMPLE = 512


class Adf(LazyChain):
    """Goes along the gradient of log P(y | x), every feature at a rate that adapts to how often it occurs.

    Parameters
    ----------
    max_rows : rows of the node and of the edge table.
    plain_edges : learn transitions that do not depend on the position.
    second_order : learn triples of labels too.
    rate : c, the rate of a new feature.
    keep_rare, keep_frequent : α and β, what is kept of a rate at the end of a window in which the feature
        never, or in every sequence, occurred.
    window : sequences in the first window.
    growth : each window is so many times longer than the one before.
    min_rate : no rate falls below it, so that learning never freezes.
    sigma : standard deviation of the Gaussian prior of the weights; None for no L2 term.
    late_start : a new feature begins with the rate that it would have, had it been known from the start, or
        since rates were last warmed up.
    average : what predictions are made with: the last weights, the average of all, or an exponential one.
    half_life : of the exponential average, in sequences.
    """

    def __init__(
        self,
        max_rows: tuple[int, int],
        plain_edges: bool = True,
        second_order: bool = False,
        *,
        rate: float = 0.05,
        keep_rare: float = 0.995,
        keep_frequent: float = 0.6,
        window: int = 200,
        growth: float = 1.0,
        min_rate: float = 0.0,
        sigma: float | None = 5.0,
        late_start: bool = False,
        average: Average = "none",
        half_life: float = 10_000.0,
    ) -> None:
        notes = 5 if average == "exponential" else 4
        super().__init__(max_rows, plain_edges, second_order, 1 if average == "none" else 2, notes)
        self._window = 1
        self._schedule = adf.Schedule(
            rate=rate,
            is_late=late_start,
            since=self._window,
            keep_rare=keep_rare,
            keep_frequent=keep_frequent,
            window=window,
            growth=growth,
            min_rate=min_rate,
            inverse_variance=1.0 / sigma**2 if sigma else 0.0,
            average=AVERAGES[average],
            retain=0.5 ** (1.0 / half_life),
        )

    def _learn(
        self,
        rows: Rows,
        supervision: Supervision,
        n_labels: int,
        predicted_out: NDArray[np.int32],
        loss_out: NDArray[np.float64],
    ) -> None:
        self._window = adf.adf_pass(
            rows, supervision.labels, supervision.labels_known, supervision.importance, n_labels, self._seen,
            self._window, self._schedule, self._plain_edges, supervision.mask, self._weights.arrays,
            self._metas, predicted_out, loss_out,
        )  # fmt: skip

    def _settle(
        self, wanted: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty((len(wanted), *weights.shape[1:]))
        adf.settled(wanted, weights, meta, self._window, self._seen, self._schedule, out)
        return out

    def _averaging(self) -> tuple[int, float]:
        plane, share = adf.averaging(self._schedule, self._seen)
        return plane, share

    def rewarm(self) -> None:
        """Give every feature the rate of a new one, as after a change of the world."""
        self._schedule = self._schedule._replace(since=self._window)
        for weights, meta, used in zip(self._weights.arrays, self._metas, self._used, strict=True):
            adf.rewarm(weights[:used], meta[:used], self._window, self._seen, self._schedule)

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Offer to warm up all rates."""
        return {"rewarm": self.rewarm}

    def gauges(self) -> Mapping[str, float]:
        """Give the number of the window, and quantiles of the rates that evenly chosen features have.

        The rate of a feature is the one of its last sighting: what windows took since is settled at the next.
        """
        stored = [meta[:used, adf.RATE] for meta, used in zip(self._metas, self._used, strict=True)]
        sample = np.concatenate([rates[:: 1 + len(rates) // _SAMPLE] for rates in stored])
        quantiles = np.quantile(sample, [float(q) for q in QUANTILES])
        return {f"learning_rate/{q}": float(rate) for q, rate in zip(QUANTILES, quantiles, strict=True)} | {
            "frequency_window": float(self._window)
        }

    def state(self) -> dict[str, Any]:
        """Copy weights, averages, rates and counts."""
        return super().state() | {"window": self._window, "since": self._schedule.since}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        super().restore(state)
        self._window = state["window"]
        self._schedule = self._schedule._replace(since=state["since"])
