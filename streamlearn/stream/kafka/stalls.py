"""Whether one partition has gone silent while the client looks alive: then only a new client helps."""

from collections.abc import Callable, Iterable, Mapping

from streamlearn.data import TopicPartition

_LOOKS = 3


class StallWatch:
    """Watches for partitions that hold records and give none.

    A partition may wait its turn while others are read and learned, so that time alone is no sign: the
    client must also have been polled more often than there are partitions.

    Parameters
    ----------
    stall_seconds : how long a partition that is behind may be silent.
    clock : monotonic seconds.
    """

    def __init__(self, stall_seconds: float, clock: Callable[[], float]) -> None:
        self._stall_seconds = stall_seconds
        self._clock = clock
        self._polls = 0
        self._next_look = clock()
        self._positions: dict[TopicPartition, int] = {}
        # When, and at which poll, a silent partition was first seen to be behind.
        self._behind: dict[TopicPartition, tuple[float, int]] = {}

    def look(
        self,
        positions: Mapping[TopicPartition, int],
        ends_of: Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, int]],
    ) -> list[TopicPartition]:
        """Return the partitions that have stalled; to be called after every poll that a broker answered.

        Parameters
        ----------
        positions : what is fetched next.
        ends_of : asks for the ends of some partitions; is called a few times in `stall_seconds`.
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
        """Begin anew: the client is a new one, or no broker answers."""
        self._positions.clear()
        self._behind.clear()
