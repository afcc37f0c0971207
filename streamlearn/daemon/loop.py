"""The loop: poll, decode, learn, checkpoint. It knows protocols only."""

import time
from collections.abc import Callable, Mapping, Sequence

from streamlearn.daemon.bad_records import Letters, Tolerance
from streamlearn.daemon.checkpointer import Keeper, Snapshot
from streamlearn.daemon.intake import BatchReader, Intake
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Position, Record, TopicPartition
from streamlearn.errors import AuthenticationError, BrokerUnavailableError, StreamError
from streamlearn.events import Duplicated, Observer, Polled, StateChanged
from streamlearn.stream.source import Source

IDLE_POLL_SECONDS = 0.5
# Less than the time that init systems give a stopping daemon.
WRITE_SECONDS = 90.0
LETTER_SECONDS = 20.0


class Loop:
    """Learns from a source until told to stop.

    While one batch is learned, the next is polled and decoded; its records count as read only once they
    are learned, so that weights, scores and positions of a checkpoint are of the same instant.

    Parameters
    ----------
    source : opened at `positions`.
    tolerance : looks at what was read before it is learned.
    letters : takes the bad records; no checkpoint passes one that is not durable there.
    snapshot : copies the state, given the positions.
    observe : told of everything.
    clock : monotonic seconds.
    """

    def __init__(
        self,
        source: Source,
        reader: BatchReader,
        tolerance: Tolerance,
        letters: Letters,
        pipeline: Pipeline,
        keeper: Keeper,
        positions: Mapping[TopicPartition, Position],
        snapshot: Callable[[Mapping[TopicPartition, Position]], Snapshot],
        observe: Observer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._reader = reader
        self._tolerance = tolerance
        self._letters = letters
        self._pipeline = pipeline
        self._keeper = keeper
        self._positions = dict(positions)
        self._snapshot = snapshot
        self._observe = observe
        self._clock = clock
        # Records that `self._positions` have passed: what the intervals between checkpoints are counted in.
        self._records = 0
        # Read, and being learned: not part of `self._positions` yet.
        self._ahead: Intake | None = None

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
        StreamlearnError : a bad record could not be delivered; the state before it is the last checkpoint.
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
        """Go round once: the batch before is learned while the next is read."""
        records = self._source.poll(0.0 if self._ahead else IDLE_POLL_SECONDS)
        intake = self._read(records) if records else None
        self._settle()
        self._observe_source(intake)
        self._keeper.follow()
        # A broker that is away for a while delays a checkpoint, not learning.
        if self._letters.settle(0.0) and self._keeper.due(self._clock(), self._records):
            self._keeper.save(self._take, self._clock(), self._records)
        if intake:
            self._begin(intake)

    def save(self) -> None:
        """Finish the batch in hand and make sure that the state is on disk."""
        self._settle()
        if not self._letters.settle(LETTER_SECONDS):
            raise BrokerUnavailableError(
                f"dead letters are not acknowledged after {LETTER_SECONDS:g} s; what follows them is learned "
                "again after the next start"
            )
        self._keeper.finish(self._take, self._clock(), self._records, WRITE_SECONDS)

    def _read(self, records: Sequence[Record]) -> Intake:
        intake = self._reader.read(records, self._reached())
        self._tolerance.admit(records, intake.refused)
        return intake

    def _reached(self) -> Mapping[TopicPartition, Position]:
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
        self._tolerance.settle()
        if intake.duplicates:
            self._observe(Duplicated(intake.duplicates))
        for gap in intake.gaps:
            self._observe(gap)
        for record, rejected in intake.refused:
            self._letters.send(record, rejected)
            self._observe(rejected)
        if learned:
            self._observe(learned)

    def _observe_source(self, intake: Intake | None) -> None:
        counts = (intake.counts, intake.sizes, intake.timestamps) if intake else ({}, {}, {})
        self._observe(Polled(*counts, partitions=self._source.status(), connected=self._source.connected))

    def _take(self) -> Snapshot:
        return self._snapshot(self._positions)
