"""The learning curve of the whole stream in bounded memory: the longer the stream, the coarser the curve."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.events import Drift, Event, Learned

COLUMNS = (
    "time", "sequences", "tokens", "wrong_sequences", "wrong_tokens", "updates", "loss", "features", "f1",
)  # fmt: skip
_TIME, _SEQUENCES, _FEATURES, _F1 = 0, 1, 7, 8
_COUNTED = slice(_SEQUENCES, _FEATURES)
_TOKEN_COLUMNS = [COLUMNS.index(name) for name in ("sequences", "tokens", "wrong_tokens")]
_DRIFTS = 200
_CURVES = ("sequences", "time", "accuracy", "sequence_accuracy", "loss", "f1", "features")


class History:
    """An observer that keeps cumulative totals at multiples of a number of sequences, the stride.

    Whenever the capacity is reached, the stride doubles and every second total goes. How the stream is cut
    into batches changes no total; only time, features and F1 are as of the last batch learned by then.

    Parameters
    ----------
    capacity : maximum number of totals kept; 72 bytes each.
    clock : returns Unix time.

    Examples
    --------
    >>> history = History(clock=lambda: 0.0)
    >>> history.curve(100)["accuracy"]
    []
    """

    def __init__(self, capacity: int = 2048, clock: Callable[[], float] = time.time) -> None:
        self._capacity = capacity
        self._clock = clock
        self._totals = np.zeros((1, len(COLUMNS)))
        self._totals[0, _F1] = np.nan
        self._stride = 1.0
        self._drifts: list[Drift] = []

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, Learned):
            self._add(event)
            self._drifts = [*self._drifts, *event.drifts][-_DRIFTS:]

    def _add(self, event: Learned) -> None:
        size, last = event.sequences, self._totals[-1]
        each = (np.ones(size), event.lengths, event.wrong > 0, event.wrong, event.updated, event.losses)
        totals = np.repeat(last[None], size, axis=0)
        totals[:, _TIME] = self._clock()
        totals[:, _COUNTED] = np.vstack([last[_COUNTED], np.column_stack(each)]).cumsum(axis=0)[1:]
        totals[-1, _FEATURES] = event.standing.gauges.get("features_known", np.nan)
        totals[-1, _F1] = event.standing.progressive.get("f1/micro/fading", np.nan)
        # Another thread may be reading the old array, which is never written.
        self._totals = self._thinned(np.concatenate([self._totals, totals]))

    def _thinned(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the first total at or after each multiple of the stride, and the last."""
        sequences = totals[:, _SEQUENCES]
        while sequences[-1] >= self._stride * (self._capacity - 2):
            self._stride *= 2
        steps = np.floor(sequences / self._stride)
        kept = np.concatenate([[True], np.diff(steps) > 0])
        kept[-1] = True
        thinned: NDArray[np.float64] = totals[kept]
        return thinned

    @property
    def drifts(self) -> list[Drift]:
        """The latest drifts, oldest first."""
        return self._drifts

    def curve(self, points: int) -> dict[str, list[float]]:
        """Return the stream as at most `points` intervals of equal length.

        Returns
        -------
        For each interval: `sequences` and `time` at its end, `accuracy` and `sequence_accuracy` 0-1, `loss`
        per sequence, `f1` (fading, at its end; NaN if the labels mark no spans) and `features`.
        """
        totals = self._totals
        if len(totals) < 2:
            return {name: [] for name in _CURVES}
        ends = np.linspace(0, totals[-1, _SEQUENCES], points + 1)
        places = np.unique(np.searchsorted(totals[:, _SEQUENCES], ends))
        rows = dict(zip(COLUMNS, totals[places].T, strict=True))
        grown = {name: np.diff(values) for name, values in rows.items()}
        curves = {
            "sequences": rows["sequences"][1:],
            "time": rows["time"][1:],
            "accuracy": 1.0 - grown["wrong_tokens"] / grown["tokens"],
            "sequence_accuracy": 1.0 - grown["wrong_sequences"] / grown["sequences"],
            "loss": grown["loss"] / grown["sequences"],
            "f1": rows["f1"][1:],
            "features": rows["features"][1:],
        }
        return {name: values.tolist() for name, values in curves.items()}

    def accuracy(self, first: float, last: float) -> float | None:
        """Return the token accuracy between two sequence numbers, interpolated; None without any tokens."""
        ends, tokens, wrong = self._totals[:, _TOKEN_COLUMNS].T
        n_tokens, n_wrong = (float(np.diff(np.interp((first, last), ends, of))[0]) for of in (tokens, wrong))
        return 1.0 - n_wrong / n_tokens if n_tokens else None

    def state(self) -> dict[str, Any]:
        """Return the state as plain data and an array."""
        drifts = [{**asdict(drift), "actions": list(drift.actions)} for drift in self._drifts]
        return {"totals": self._totals, "stride": self._stride, "drifts": drifts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; start empty if there is none."""
        if state:
            # Older checkpoints may have a stride of 0, and totals at the ends of batches.
            self._totals, self._stride = state["totals"].copy(), max(1.0, state["stride"])
            self._drifts = [
                Drift(**{**drift, "actions": tuple(drift["actions"])}) for drift in state["drifts"]
            ]
