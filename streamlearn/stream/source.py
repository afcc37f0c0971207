"""The protocol of a stream of records with positions; whoever keeps it can be learned from."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from streamlearn.data import PartitionStatus, Position, Record, StreamIdentity, TopicPartition


class Source(Protocol):
    """A partitioned, replayable log.

    Life: `start_positions` (first start only), `open`, then `poll` until the end, `close`.
    Implementations are used from one thread.
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
        """Check that the log still holds `positions`, and go there.

        Returns
        -------
        For each partition whose records were removed before they were read: how many are lost.

        Raises
        ------
        StreamError : a topic was recreated or truncated, or records were lost and the policy forbids it.
        """

    def poll(self, timeout_seconds: float) -> Sequence[Record]:
        """Wait for records and give them in offset order within each partition; empty if none came."""

    def restrict(self, partitions: Sequence[TopicPartition]) -> None:
        """Fetch from these open partitions only, one or more, until told otherwise; none loses its place."""

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        """Return where each partition stands, without asking the broker."""

    @property
    def connected(self) -> bool:
        """Whether a broker answered lately."""

    def commit(self, positions: Mapping[TopicPartition, Position]) -> None:
        """Publish the positions for lag tools; never read back, never raises, never blocks."""

    def close(self) -> None:
        """Leave; safe to call twice."""
