"""River's drift detectors with a bounded state that can be saved and restored exactly."""

from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import river
from numpy.typing import NDArray
from river import stats

from streamlearn.choices import DetectorKind


@cache
def _module(detector: str) -> ModuleType:
    """Import the module of one detector alone.

    The package around it also imports data sets and all of scipy.stats, which takes longer than everything
    else that a command imports together.
    """
    path = Path(river.__file__).parent / "drift" / f"{detector}.py"
    spec = spec_from_file_location(f"{__name__}.{detector}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a module")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The last values of the memory, which are compared with those before.
RECENT = 5

# Each value is the sum of a quantum of sequences: river's defaults for single values, and a stricter level
# for detectors that test at every value. Only rises matter: a falling error is learning.
_MAKERS: dict[str, tuple[int, Callable[[], Any]]] = {
    "adwin": (4096, lambda: _module("adwin").ADWIN(delta=0.0002, clock=1)),
    "page_hinkley": (4096, lambda: _module("page_hinkley").PageHinkley(mode="up", delta=0.25)),
    "kswin": (200, lambda: _module("kswin").KSWIN(alpha=1e-5, seed=0)),
}


class Detector:
    """Detects when a signal begins to rise.

    The internals of river's detectors cannot be saved as plain data and change between its releases. So the
    state is the values since the last drift, and a detector is rebuilt from them. They are bounded: at the
    capacity the detector is rebuilt from the newer half. All of this depends on the values alone, so that a
    restored detector decides exactly as one that was never saved.

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
        self._capacity, self._make = _MAKERS[kind]
        self._rebuild([])

    def update(self, value: float) -> tuple[float, float] | None:
        """Add a value; if the signal has risen, return its means before and after, and reset."""
        if len(self._memory) == self._capacity:
            self._rebuild(self._memory[-self._capacity // 2 :])
        self._append(value)
        if not self._river.drift_detected:
            return None
        before, after = self._levels()
        self._rebuild([])
        return (before, after) if after > before else None

    def _levels(self) -> tuple[float, float]:
        return float(np.mean(self._memory[:-RECENT] or [0.0])), float(np.mean(self._memory[-RECENT:]))

    def score(self) -> float:
        """Return by how many standard errors the last values are above those before; NaN if too few."""
        if len(self._memory) < 4 * RECENT:
            return float("nan")
        error = (float(self._old.get()) / RECENT) ** 0.5
        recent = sum(self._memory[-RECENT:]) / RECENT
        return (recent - float(self._old.mean.get())) / error if error else 0.0

    def state(self) -> NDArray[np.float64]:
        """Return the values since the last drift: float64[·]."""
        return np.array(self._memory, np.float64)

    def restore(self, state: NDArray[np.float64]) -> None:
        """Continue from a state."""
        self._rebuild(state.tolist())

    def _rebuild(self, values: list[float]) -> None:
        self._memory: list[float] = []
        self._river = self._make()
        # Of all values but the last few; the score compares both.
        self._old = stats.Var(ddof=0)
        for value in values:
            self._append(value)

    def _append(self, value: float) -> None:
        self._memory.append(value)
        self._river.update(value)
        if len(self._memory) > RECENT:
            self._old.update(self._memory[-1 - RECENT])
