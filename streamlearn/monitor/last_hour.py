"""Sums over the last hour, in minutes."""

import numpy as np
from numpy.typing import NDArray

_MINUTES = 60


class LastHour:
    """Sums of the counts added in the last 60 minutes; not part of a checkpoint.

    Parameters
    ----------
    columns : number of sums.
    """

    def __init__(self, columns: int) -> None:
        self._counts = np.zeros((_MINUTES, columns), np.int64)
        self._minute = 0

    def add(self, counts: NDArray[np.int64], now: float) -> None:
        """Add int64[columns] at `now`, in monotonic seconds."""
        self._advance(now)
        self._counts[self._minute % _MINUTES] += counts

    def sums(self, now: float) -> NDArray[np.int64]:
        """Return the sums over the 60 minutes before `now`."""
        self._advance(now)
        total: NDArray[np.int64] = self._counts.sum(axis=0)
        return total

    def _advance(self, now: float) -> None:
        minute = int(now // 60)
        for passed in range(max(self._minute + 1, minute - _MINUTES + 1), minute + 1):
            self._counts[passed % _MINUTES] = 0
        self._minute = minute
