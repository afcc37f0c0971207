"""The protocol of a stream of records with positions, which anything to learn from implements."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from streamlearn.data import PartitionStatus, Position, Record, StreamIdentity, TopicPartition


class Source(Protocol):
    """A partitioned, replayable log.

    Call `start_positions` (first start only), `open`, then `poll` repeatedly, finally `close`; all from one
    thread.
    """

    def identity(self) -> StreamIdentity:
        """Return the cluster and topic ids.

        Raises
        ------
        BrokerUnavailableError, AuthenticationError, StreamError (a topic does not exist).
        """

    def start_positions(self) -> dict[TopicPartition, Position]:
        """Resolve the configured start (earliest, latest, a time) to offsets, for every partition."""

    def open(self, positions: Mapping[TopicPartition, Position]) -> dict[TopicPartition, int]:
        """Check that the log still holds `positions`, and seek to them.

        Returns
        -------
        The number of lost records, for each partition whose records were deleted before they were read.

        Raises
        ------
        StreamError : a topic was recreated or truncated, or records were lost and the policy forbids it.
        """

    def poll(self, timeout_seconds: float) -> Sequence[Record]:
        """Wait for records and return them, in offset order within each partition; empty if none arrived."""

    def restrict(self, partitions: Sequence[TopicPartition]) -> None:
        """Fetch only from these open partitions until the next call; the others keep their positions."""

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        """Return the status of each partition, without asking the broker."""

    def has_read_to(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Return whether the next record, if any, is not before the ends of all partitions.

        With partitions that take turns some may have records before their end: those after the turn of a
        partition that has none.
        """

    @property
    def connected(self) -> bool:
        """Whether a broker answered recently."""

    def commit(self, positions: Mapping[TopicPartition, Position]) -> None:
        """Publish the positions for lag monitoring; never read back, never raises, never blocks."""

    def close(self) -> None:
        """Close the source; safe to call twice."""
