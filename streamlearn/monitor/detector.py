"""River's drift detectors as part of a state that can be saved: bounded, plain, the same after a restart."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import drift, stats

from streamlearn.choices import DetectorKind

# Values after which a rise can be told from a fall.
LATE = 5

# Each value is the sum of a quantum of sequences: river's defaults for single values, and where they test at
# every value a stricter level. Only rises matter, and what falls is learning.
_MAKERS: dict[str, tuple[int, Callable[[], Any]]] = {
    "adwin": (4096, lambda: drift.ADWIN(delta=0.0002, clock=1)),
    "page_hinkley": (4096, lambda: drift.PageHinkley(mode="up", delta=0.25)),
    "kswin": (200, lambda: drift.KSWIN(alpha=1e-5, seed=0)),
}


class Detector:
    """Tells when a signal begins to rise.

    What river's detectors keep has no plain form of its own, and changes with its releases. So the values
    since the last change are the state, and a detector is rebuilt from them. They are bounded: when there are
    too many, the older half is forgotten, by a detector that is rebuilt from the newer half. Both depend on
    the values alone, so that a detector which was saved and restored decides as one that was not.

    Parameters
    ----------
    kind : ``adwin`` (Bifet & Gavaldà 2007), ``page_hinkley`` (Page 1954) or ``kswin`` (Raab, Heusinger &
        Schleif 2020).

    Examples
    --------
    >>> detector = Detector("adwin")
    >>> [n for n in range(200) if detector.update(4.0 if n < 150 else 20.0)]
    [153]
    """

    def __init__(self, kind: DetectorKind) -> None:
        self._room, self._make = _MAKERS[kind]
        self._rebuild([])

    def update(self, value: float) -> tuple[float, float] | None:
        """Take the next value; if the signal has risen, give its means before and of late, and forget all."""
        if len(self._memory) == self._room:
            self._rebuild(self._memory[-self._room // 2 :])
        self._append(value)
        if not self._river.drift_detected:
            return None
        before, after = self._levels()
        self._rebuild([])
        return (before, after) if after > before else None

    def _levels(self) -> tuple[float, float]:
        return float(np.mean(self._memory[:-LATE] or [0.0])), float(np.mean(self._memory[-LATE:]))

    def score(self) -> float:
        """Tell by how many standard errors the last values are above those before; NaN for too few."""
        if len(self._memory) < 4 * LATE:
            return float("nan")
        error = (float(self._old.get()) / LATE) ** 0.5
        late = sum(self._memory[-LATE:]) / LATE
        return (late - float(self._old.mean.get())) / error if error else 0.0

    def state(self) -> NDArray[np.float64]:
        """Give the values since the last change: float64[·]."""
        return np.array(self._memory, np.float64)

    def restore(self, state: NDArray[np.float64]) -> None:
        """Continue from a state."""
        self._rebuild(state.tolist())

    def _rebuild(self, values: list[float]) -> None:
        self._memory: list[float] = []
        self._river = self._make()
        # Of all values but the last few, which the score compares with them.
        self._old = stats.Var(ddof=0)
        for value in values:
            self._append(value)

    def _append(self, value: float) -> None:
        self._memory.append(value)
        self._river.update(value)
        if len(self._memory) > LATE:
            self._old.update(self._memory[-1 - LATE])
