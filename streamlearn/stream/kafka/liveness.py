"""Watching whether brokers answer, partitions have leaders, and topics are still those that were opened."""

# The stubs of kafka-python leave these calls untyped.
# mypy: disable-error-code="no-untyped-call"

from collections.abc import Callable, Iterable, Mapping

from streamlearn.data import TopicPartition
from streamlearn.errors import StreamError
from streamlearn.stream.kafka.connection import ConnectionManager
from streamlearn.stream.kafka.known_offsets import has_leader
from streamlearn.stream.kafka.metadata import is_deleted


class AnswerMonitor:
    """Decides from the number of answers whether a broker answered recently.

    While it is polled, the client has a fetch request open that a working broker answers within half a second
    even if there is nothing to read. Time outside of polls does not count as silence.
    """

    def __init__(
        self, manager: ConnectionManager, silence_seconds: float, clock: Callable[[], float]
    ) -> None:
        self._manager = manager
        self._silence_seconds = silence_seconds
        self._clock = clock
        self._answers = -1
        self._silent_seconds = 0.0
        self._began = clock()

    def begin(self) -> None:
        """Note that a poll has started."""
        self._began = self._clock()

    def end(self) -> None:
        """Note that the poll has ended."""
        answers = self._manager.answers
        if answers != self._answers:
            self._answers, self._silent_seconds = answers, 0.0
        else:
            self._silent_seconds += self._clock() - self._began

    @property
    def recent(self) -> bool:
        """Whether a broker answered recently."""
        return self._silent_seconds < self._silence_seconds


class LeaderMonitor:
    """Finds the partitions that have had no leader for a while, in the metadata that the client refreshes.

    Parameters
    ----------
    patience_seconds : an election takes less.
    """

    def __init__(
        self, manager: ConnectionManager, patience_seconds: float, clock: Callable[[], float]
    ) -> None:
        self._manager = manager
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._since: dict[TopicPartition, float] = {}

    def look(self, partitions: Iterable[TopicPartition]) -> None:
        """Note which of these have a leader."""
        now = self._clock()
        without = [tp for tp in partitions if not has_leader(self._manager, tp)]
        self._since = {tp: self._since.get(tp, now) for tp in without}

    @property
    def without(self) -> list[TopicPartition]:
        """The partitions that have no leader."""
        now = self._clock()
        return [tp for tp, since in self._since.items() if now - since >= self._patience_seconds]


class TopicMonitor:
    """Detects new partitions, and topics that were deleted or recreated.

    It reads the metadata that the client refreshes in the background, and waits for an answer only to confirm
    a deletion: the client also leaves out topics about which no broker gave an answer.

    Parameters
    ----------
    topic_ids : the id of each topic when it was opened; "" if unknown.
    every_seconds : interval between checks; what is missing for two intervals may have been deleted.
    """

    def __init__(
        self,
        manager: ConnectionManager,
        topic_ids: Mapping[str, str],
        every_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self._manager = manager
        self._cluster = manager.cluster
        self._topic_ids = topic_ids
        self._every_seconds = every_seconds
        self._clock = clock
        self._next = clock() + every_seconds
        self._missing_since: dict[TopicPartition, float] = {}

    def look(self, assigned: Iterable[TopicPartition]) -> set[TopicPartition]:
        """Return the partitions that exist but are not assigned, if a check is due.

        Raises
        ------
        StreamError : a topic was recreated, or a partition no longer exists.
        """
        now = self._clock()
        if now < self._next:
            return set()
        self._next = now + self._every_seconds
        for topic, known in self._topic_ids.items():
            found = self._cluster.topic_id(topic)
            if known and found and str(found) != known:
                raise StreamError(
                    f"{topic}: the topic was deleted and recreated: its id was {known} and is {found}"
                )
        assigned = set(assigned)
        present = {
            TopicPartition(topic, partition)
            for topic in self._topic_ids
            for partition in self._cluster.partitions_for_topic(topic) or ()
        }
        self._note_missing(assigned - present, now)
        return present - assigned

    def _note_missing(self, missing: set[TopicPartition], now: float) -> None:
        # A broker that has just started may not know all topics yet.
        self._missing_since = {tp: self._missing_since.get(tp, now) for tp in missing}
        for tp, since in sorted(self._missing_since.items()):
            if now - since >= 2 * self._every_seconds and is_deleted(self._manager, tp):
                raise StreamError(
                    f"{tp.topic}[{tp.partition}]: the partition no longer exists: the topic was deleted"
                )
