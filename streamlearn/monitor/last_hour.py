"""Counts of the last hour, minute by minute."""

import numpy as np
from numpy.typing import NDArray

_MINUTES = 60


class LastHour:
    """Sums of what was added in the last 60 minutes; no part of a checkpoint, for time goes on without it.

    Parameters
    ----------
    columns : numbers that are summed.
    """

    def __init__(self, columns: int) -> None:
        self._counts = np.zeros((_MINUTES, columns), np.int64)
        self._minute = 0

    def add(self, counts: NDArray[np.int64], now: float) -> None:
        """Add int64[columns] at `now`, in seconds that never fall."""
        self._turn(now)
        self._counts[self._minute % _MINUTES] += counts

    def sums(self, now: float) -> NDArray[np.int64]:
        """Give the sums of the minutes before `now`."""
        self._turn(now)
        total: NDArray[np.int64] = self._counts.sum(axis=0)
        return total

    def _turn(self, now: float) -> None:
        minute = int(now // 60)
        for passed in range(max(self._minute + 1, minute - _MINUTES + 1), minute + 1):
            self._counts[passed % _MINUTES] = 0
        self._minute = minute
