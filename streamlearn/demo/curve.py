"""The accuracy of a whole run, in bounded memory, for any stretch of it."""

import numpy as np
from numpy.typing import NDArray


class Curve:
    """Running totals after each batch; between two batches they are interpolated.

    Parameters
    ----------
    capacity : totals that are kept; when there are more, they are thinned evenly over the run.

    Examples
    --------
    >>> curve = Curve()
    >>> curve.add(sequences=10, tokens=80, mistakes=40)
    >>> curve.add(sequences=10, tokens=80, mistakes=20)
    >>> curve.accuracy(10, 20), curve.accuracy(0, 20)
    (0.75, 0.625)
    """

    def __init__(self, capacity: int = 4096) -> None:
        self._capacity = capacity
        self._stride = 0.0
        self._totals = [(0, 0, 0)]

    def add(self, sequences: int, tokens: int, mistakes: int) -> None:
        """Note a batch."""
        totals = self._totals
        last = totals[-1]
        total = last[0] + sequences, last[1] + tokens, last[2] + mistakes
        if len(totals) > 1 and last[0] - totals[-2][0] < self._stride:
            totals[-1] = total
        else:
            totals.append(total)
        if len(totals) > self._capacity:
            self._thin()

    @property
    def end(self) -> int:
        """Sequences so far."""
        return self._totals[-1][0]

    def accuracy(self, first: float, last: float) -> float | None:
        """Give the share of right tokens from sequence number `first` to `last`; None if there were none."""
        accuracy = float(self.between(np.array([first, last]))[0])
        return None if np.isnan(accuracy) else accuracy

    def between(self, edges: NDArray[np.floating]) -> NDArray[np.float64]:
        """Give the accuracy between each two neighbours of `edges`, NaN where nothing was learned.

        Parameters
        ----------
        edges : sequence numbers, n + 1 ascending ones.
        """
        ends, tokens, mistakes = np.array(self._totals, float).T
        clipped = np.clip(edges, 0, ends[-1])
        count = np.diff(np.interp(clipped, ends, tokens))
        wrong = np.diff(np.interp(clipped, ends, mistakes))
        with np.errstate(invalid="ignore"):
            return np.where(count > 0, 1.0 - wrong / count, np.nan)

    def _thin(self) -> None:
        self._stride = 2 * self.end / self._capacity
        kept = [self._totals[0]]
        for total in self._totals[1:]:
            if total[0] - kept[-1][0] >= self._stride:
                kept.append(total)
        if kept[-1] != self._totals[-1]:
            kept.append(self._totals[-1])
        # Another thread may be drawing the old list.
        self._totals = kept
