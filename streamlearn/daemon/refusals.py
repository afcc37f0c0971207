"""What becomes of records that cannot be learned from, and when there are too many of them."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from streamlearn.data import Record
from streamlearn.errors import StreamError
from streamlearn.events import Rejected

Refused = tuple[Record, Rejected]


class Letters(Protocol):
    """Where bad records go; each arrives once at the least."""

    def send(self, record: Record, why: Rejected) -> None:
        """Begin to deliver one."""

    def settle(self, timeout_seconds: float) -> bool:
        """Wait, and tell whether all that were sent are durable.

        Raises
        ------
        StreamlearnError : one cannot be delivered.
        """


class Skipped:
    """Bad records are counted and logged, and left where they are."""

    def send(self, record: Record, why: Rejected) -> None:
        """Do nothing."""

    def settle(self, timeout_seconds: float) -> bool:  # noqa: ARG002
        """Have nothing to wait for."""
        return True


class Tolerance:
    """Stops a stream that has gone bad, before its records are passed over.

    Parameters
    ----------
    max_ratio : of bad records among any `window` in a row, 0-1; 0 stops at the first, None never.
    window : records; those before the first count as good.
    """

    def __init__(self, max_ratio: float | None, window: int) -> None:
        self._max_ratio = max_ratio
        self._recent = np.zeros(window, np.bool_)

    def admit(self, records: Sequence[Record], refused: Sequence[Refused]) -> None:
        """Take what a poll brought, in order.

        Raises
        ------
        StreamError : too much of it, and of what came before, is bad.
        """
        if self._max_ratio is None:
            return
        window = len(self._recent)
        bad = {(record.topic, record.partition, record.offset): why for record, why in refused}
        flags = [bool(bad) and (r.topic, r.partition, r.offset) in bad for r in records]
        seen = np.concatenate([self._recent, np.array(flags, np.bool_)])
        self._recent = seen[-window:]
        if bad:
            sums = np.cumsum(seen)
            worst = int((sums[window:] - sums[:-window]).max())
            if worst > self._max_ratio * window:
                record = records[flags.index(True)]
                first = bad[record.topic, record.partition, record.offset]
                raise StreamError(self._complaint(worst, window, first))

    def _complaint(self, worst: int, window: int, first: Rejected) -> str:
        what = f"{first.place}: {first.message} ({first.reason})"
        if not self._max_ratio:
            return f"{what}; mend or skip it (dead_letters.policy)"
        return f"{what}; {worst} of {window} records are bad, more than {self._max_ratio:.3%} are not borne"
