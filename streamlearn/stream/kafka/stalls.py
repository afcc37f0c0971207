"""Detecting a stalled partition of a client that otherwise works: only recreating the client helps."""

from collections.abc import Callable, Iterable, Mapping

from streamlearn.data import TopicPartition

_LOOKS = 3


class StallDetector:
    """Detects partitions with unread records that return none.

    A partition may just wait while others are read, so time alone proves nothing: the client must also have
    been polled more often than there are partitions.

    Parameters
    ----------
    stall_seconds : how long a partition with unread records may return none.
    clock : monotonic seconds.
    """

    def __init__(self, stall_seconds: float, clock: Callable[[], float]) -> None:
        self._stall_seconds = stall_seconds
        self._clock = clock
        self._polls = 0
        self._next_look = clock()
        self._positions: dict[TopicPartition, int] = {}
        # For each silent partition with unread records: when it was first seen, and at which poll.
        self._behind: dict[TopicPartition, tuple[float, int]] = {}

    def look(
        self,
        positions: Mapping[TopicPartition, int],
        ends_of: Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, int]],
    ) -> list[TopicPartition]:
        """Return the partitions that have stalled; to be called after every answered poll.

        Parameters
        ----------
        positions : the next offset of each fetched partition.
        ends_of : returns the end offsets of some partitions; called about three times per `stall_seconds`.
        """
        now = self._clock()
        self._polls += 1
        if now < self._next_look:
            return []
        self._next_look = now + self._stall_seconds / _LOOKS
        silent = [tp for tp, at in positions.items() if self._positions.get(tp) == at]
        self._positions = dict(positions)
        ends = ends_of(silent) if silent else {}
        behind = [tp for tp in silent if ends.get(tp, 0) > positions[tp]]
        self._behind = {tp: self._behind.get(tp, (now, self._polls)) for tp in behind}
        enough = 2 * len(positions) + _LOOKS
        return [
            tp
            for tp, (since, poll) in self._behind.items()
            if now - since >= self._stall_seconds and self._polls - poll >= enough
        ]

    def forget(self) -> None:
        """Start over, since the client is new or no broker answers."""
        self._positions.clear()
        self._behind.clear()
