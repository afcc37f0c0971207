"""Sums over the last hour, in minutes."""

import numpy as np
from numpy.typing import NDArray

_MINUTES = 60


class LastHour:
    """Sums of the counts added in the last 60 minutes; not part of a checkpoint.

    One thread adds, others may ask for the sums: the table is replaced as a whole.

    Parameters
    ----------
    columns : number of sums.

    Examples
    --------
    >>> hour = LastHour(1)
    >>> hour.add(np.array([7]), now=30.0)
    >>> hour.sums(now=3599.0).tolist(), hour.sums(now=3600.0).tolist()
    ([7], [0])
    """

    def __init__(self, columns: int) -> None:
        # The last minute with counts, and the counts of each minute: row m % 60 is minute m.
        self._table = (0, np.zeros((_MINUTES, columns), np.int64))

    def add(self, counts: NDArray[np.int64], now: float) -> None:
        """Add int64[columns] at `now`, in monotonic seconds."""
        last, old = self._table
        minute, table = int(now // 60), old.copy()
        passed = np.arange(max(last + 1, minute - _MINUTES + 1), minute + 1)
        table[passed % _MINUTES] = 0
        table[minute % _MINUTES] += counts
        self._table = (minute, table)

    def sums(self, now: float) -> NDArray[np.int64]:
        """Return the sums over the 60 minutes before `now`."""
        last, table = self._table
        kept = np.arange(int(now // 60) - _MINUTES + 1, last + 1)
        total: NDArray[np.int64] = table[kept % _MINUTES].sum(axis=0)
        return total
