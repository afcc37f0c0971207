"""The loop: poll, decode, learn, checkpoint. It knows protocols only."""

import time
from collections.abc import Callable, Mapping

from streamlearn.daemon.bad_records import BadRecordSink
from streamlearn.daemon.checkpointer import Checkpointer
from streamlearn.daemon.intake import BatchReader, Intake
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Position, TopicPartition
from streamlearn.errors import AuthenticationError, BrokerUnavailableError, StreamError
from streamlearn.events import Duplicated, Observer, Polled, StateChanged
from streamlearn.stream.source import Source

IDLE_POLL_SECONDS = 0.5
# Less than the time that init systems give a stopping daemon.
WRITE_SECONDS = 90.0
DEAD_LETTER_SECONDS = 20.0


class Loop:
    """Learns from a source until a stop is requested.

    While one batch is learned, the next is polled and decoded; its records count as read only once they
    are learned, so that weights, scores and positions of a checkpoint are of the same instant.

    Parameters
    ----------
    source : opened at `positions`.
    bad_records : takes the records that were rejected; no checkpoint passes one that is not durable there.
    observe : called with every event.
    clock : monotonic seconds.
    """

    def __init__(
        self,
        source: Source,
        positions: Mapping[TopicPartition, Position],
        reader: BatchReader,
        bad_records: BadRecordSink,
        pipeline: Pipeline,
        checkpointer: Checkpointer,
        observe: Observer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._positions = dict(positions)
        self._reader = reader
        self._bad_records = bad_records
        self._pipeline = pipeline
        self._checkpointer = checkpointer
        # Records that `self._positions` have passed: what the intervals between checkpoints are counted in.
        self._records = 0
        # Read, and being learned: not part of `self._positions` yet.
        self._ahead: Intake | None = None
        self._observe = observe
        self._clock = clock

    @property
    def positions(self) -> Mapping[TopicPartition, Position]:
        """How far each partition is in the weights."""
        return self._positions

    def run(self, stopping: Callable[[], bool]) -> None:
        """Run until `stopping` says so, then leave everything learned in a checkpoint.

        Raises
        ------
        StreamError, BrokerUnavailableError, AuthenticationError : after what was learned has been saved.
        CheckpointError : the last checkpoint could not be written, or weights are not finite.
        StreamlearnError : a bad record could not be delivered; the last checkpoint is of the state before it.
        """
        self.save()
        self._observe(StateChanged("running"))
        try:
            while not stopping():
                self.turn()
        except (StreamError, BrokerUnavailableError, AuthenticationError):
            self.save()
            raise
        self._observe(StateChanged("stopping"))
        self.save()

    def turn(self) -> None:
        """Read one batch while the one before is learned."""
        records = self._source.poll(0.0 if self._ahead else IDLE_POLL_SECONDS)
        intake = self._reader.read(records, self._read_to()) if records else None
        self._settle()
        self._observe_source(intake)
        self._checkpointer.follow()
        # A broker that is away for a while delays a checkpoint, not learning.
        if self._bad_records.settle(0.0) and self._checkpointer.due(self._clock(), self._records):
            self._checkpointer.save(self._positions, self._clock(), self._records)
        if intake:
            self._begin(intake)

    def save(self) -> None:
        """Finish the current batch and make sure that the state is durable."""
        self._settle()
        if not self._bad_records.settle(DEAD_LETTER_SECONDS):
            raise BrokerUnavailableError(
                f"dead letters were not acknowledged within {DEAD_LETTER_SECONDS:g} s; nothing is lost: the "
                "records after the last checkpoint are read again at the next start"
            )
        self._checkpointer.finish(self._positions, self._clock(), self._records, WRITE_SECONDS)

    def _read_to(self) -> Mapping[TopicPartition, Position]:
        return {**self._positions, **self._ahead.positions} if self._ahead else self._positions

    def _begin(self, intake: Intake) -> None:
        self._ahead = intake
        if intake.batch.importance.size:
            self._pipeline.submit(intake.batch, intake.seconds)

    def _settle(self) -> None:
        if self._ahead is None:
            return
        learned = self._pipeline.settle()
        intake, self._ahead = self._ahead, None
        self._positions.update(intake.positions)
        self._records += sum(intake.counts.values())
        self._reader.settle(intake)
        if intake.duplicates:
            self._observe(Duplicated(intake.duplicates))
        for gap in intake.gaps:
            self._observe(gap)
        for record, rejected in intake.rejected:
            self._bad_records.send(record, rejected)
            self._observe(rejected)
        if learned:
            self._observe(learned)

    def _observe_source(self, intake: Intake | None) -> None:
        counts = (intake.counts, intake.sizes, intake.timestamps) if intake else ({}, {}, {})
        self._observe(Polled(*counts, partitions=self._source.status(), connected=self._source.connected))
