"""Linear-chain CRF trained by ADF (Sun, Li, Wang & Lu 2014)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import QUANTILES
from streamlearn.kernels.updates import adf
from streamlearn.kernels.updates.averaging import AVERAGE_EXPONENTIAL, AVERAGE_NONE, Averaging
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.lazy import LazyChain

# Rows whose rates are read for a gauge.
_SAMPLE = 512


class Adf(LazyChain):
    """Follows the gradient of log P(y | x), every feature at a rate that adapts to how often it occurs.

    Parameters
    ----------
    spec : the chain.
    averaging : what predictions are made with.
    rate : c, the rate of a new feature.
    keep_rare, keep_frequent : α and β, factors of a rate at the end of a window in which the feature occurred
        never, or in every sequence.
    window : sequences in the first window.
    growth : factor from the length of each window to the next.
    min_rate : no rate falls below it, so that learning never freezes.
    sigma : standard deviation of the Gaussian prior of the weights; None for no L2 term.
    late_start : a new feature begins with the rate that it would have if it had been known from the start, or
        since rates were last reset.
    """

    def __init__(
        self,
        spec: ChainSpec,
        averaging: Averaging,
        *,
        rate: float,
        keep_rare: float,
        keep_frequent: float,
        window: int,
        growth: float,
        min_rate: float,
        sigma: float | None,
        late_start: bool,
    ) -> None:
        kind = averaging.kind
        super().__init__(
            spec, planes=1 if kind == AVERAGE_NONE else 2, metadata=5 if kind == AVERAGE_EXPONENTIAL else 4
        )
        self._window = 1
        self._schedule = adf.RateSchedule(
            rate=rate,
            is_late=late_start,
            since=self._window,
            keep_rare=keep_rare,
            keep_frequent=keep_frequent,
            window=window,
            growth=growth,
            min_rate=min_rate,
            inverse_variance=1.0 / sigma**2 if sigma else 0.0,
            average=kind,
            retain=0.5 ** (1.0 / averaging.half_life),
        )

    def _learn(self, batch: Pass) -> None:
        self._window = adf.adf_pass(
            batch, self._seen, self._window, self._schedule, self._weights.arrays, self._metas
        )

    def _catch_up(
        self, rows: NDArray[np.int32], weights: NDArray[np.float64], meta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty((len(rows), *weights.shape[1:]))
        adf.caught_up(rows, weights, meta, self._window, self._seen, self._schedule, out)
        return out

    def _prediction_plane(self) -> tuple[int, float]:
        return adf.prediction_plane(self._schedule, self._seen)

    def rewarm(self) -> None:
        """Reset the rate of every feature to that of a new one, for instance after a concept drift."""
        self._schedule = self._schedule._replace(since=self._window)
        for weights, meta, used in zip(self._weights.arrays[:3], self._metas, self._used, strict=True):
            adf.rewarm(weights[:used], meta[:used], self._window, self._seen, self._schedule)

    def remedies(self) -> Mapping[str, Callable[[], None]]:
        """Return the remedy that resets all rates."""
        return {"rewarm": self.rewarm}

    def gauges(self) -> Mapping[str, float]:
        """Return the number of the window, and quantiles of the rates of a sample of features.

        The rate of a feature is that of its last sighting: it catches up with later windows at the next one.
        """
        stored = [meta[:used, adf.RATE] for meta, used in zip(self._metas, self._used, strict=True)]
        sample = np.concatenate([rates[:: 1 + len(rates) // _SAMPLE] for rates in stored])
        quantiles = np.quantile(sample, [float(q) for q in QUANTILES])
        return {f"learning_rate/{q}": float(rate) for q, rate in zip(QUANTILES, quantiles, strict=True)} | {
            "frequency_window": float(self._window)
        }

    def rates(self, node_rows: NDArray[np.int32], edge_rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the learning rates of node rows, then of edge rows, each as of its last occurrence."""
        node, edge, _ = self._metas
        return np.concatenate([node[node_rows, adf.RATE], edge[edge_rows, adf.RATE]])

    def state(self) -> dict[str, Any]:
        """Return weights, averages, rates and counts; arrays are views, not copies."""
        return super().state() | {"window": self._window, "since": self._schedule.since}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, bit for bit."""
        super().restore(state)
        self._window = state["window"]
        self._schedule = self._schedule._replace(since=state["since"])
