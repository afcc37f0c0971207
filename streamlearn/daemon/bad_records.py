"""Records that cannot be learned from: where they go, and when there are too many of them."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Record
from streamlearn.errors import StreamError
from streamlearn.events import Rejected

BadRecord = tuple[Record, Rejected]


class BadRecordSink(Protocol):
    """Takes bad records and delivers each at least once."""

    def send(self, record: Record, why: Rejected) -> None:
        """Begin to deliver one."""

    def settle(self, timeout_seconds: float) -> bool:
        """Wait, and tell whether everything sent is durable.

        Raises
        ------
        StreamlearnError : one cannot be delivered.
        """


class NoSink:
    """Leaves bad records where they are: they are only counted and logged."""

    def send(self, record: Record, why: Rejected) -> None:
        """Do nothing."""

    def settle(self, timeout_seconds: float) -> bool:  # noqa: ARG002
        """Return True: nothing is ever under way."""
        return True


class Tolerance:
    """Stops a stream that has gone bad before its records are skipped, also across restarts.

    Reading runs ahead of learning: a saved state is as of the last `settle`.

    Parameters
    ----------
    max_ratio : of bad records in any `window` consecutive ones, 0-1; 0 stops at the first, None never stops.
    window : records; those before the first count as good.
    """

    def __init__(self, max_ratio: float | None, window: int) -> None:
        self._max_ratio = max_ratio
        self._recent = np.zeros(window, np.bool_)
        self._settled = self._recent
        # After each batch that was admitted and is not settled.
        self._ahead: deque[NDArray[np.bool_]] = deque()

    def admit(self, records: Sequence[Record], rejected: Sequence[BadRecord]) -> None:
        """Count the records of one poll, in order.

        Raises
        ------
        StreamError : too many of these and of those before them are bad.
        """
        if self._max_ratio is None:
            return
        window = len(self._recent)
        bad = {(record.topic, record.partition, record.offset): why for record, why in rejected}
        flags = [bool(bad) and (r.topic, r.partition, r.offset) in bad for r in records]
        seen = np.concatenate([self._recent, np.array(flags, np.bool_)])
        if bad:
            sums = np.cumsum(seen)
            worst = int((sums[window:] - sums[:-window]).max())
            if worst > self._max_ratio * window:
                record = records[flags.index(True)]
                first = bad[record.topic, record.partition, record.offset]
                raise StreamError(self._complaint(worst, window, first))
        self._recent = seen[-window:]
        self._ahead.append(self._recent)

    def settle(self) -> None:
        """Note that the first batch that was admitted and not settled is learned."""
        if self._ahead:
            self._settled = self._ahead.popleft()

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps: how many records ago each bad one in the window was, 1 the last."""
        if self._max_ratio is None:
            return {}
        return {"bad_records_ago": len(self._settled) - np.flatnonzero(self._settled)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state, also one of another window."""
        ago = np.asarray(state.get("bad_records_ago", ()), np.int64)
        window = len(self._recent)
        self._recent = np.zeros(window, np.bool_)
        self._recent[window - ago[ago <= window]] = True
        self._settled = self._recent

    def _complaint(self, worst: int, window: int, first: Rejected) -> str:
        what = f"{first.place}: {first.message} ({first.reason})"
        if not self._max_ratio:
            return f"{what}; fix the record, or skip it: set dead_letters.policy to skip or dead_letter"
        return (
            f"{what}; {worst} of {window} consecutive records are bad, above dead_letters.max_ratio "
            f"({100 * self._max_ratio:g} %)"
        )
