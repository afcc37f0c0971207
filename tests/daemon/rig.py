"""A loop over lists and a real store, so that its behaviour can be tested turn by turn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.drift_watch import build_watch
from streamlearn.checkpoint.copier import Copier
from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.schedule import CheckpointSchedule
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.config.load import load
from streamlearn.daemon.bad_records import Letters, Skipped, Tolerance
from streamlearn.daemon.checkpointer import Keeper, Lineage, Snapshot
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.daemon.intake import BatchReader
from streamlearn.daemon.loop import Loop
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Position, StreamIdentity, TopicPartition
from streamlearn.events import Event
from streamlearn.monitor.progressive import Progressive
from streamlearn.stream.record_codec import RecordCodec
from tests.sequences import write_config
from tests.stream.memory import MemorySource


class Rig:
    """Everything that one life of a daemon has; a second one on the same folder resumes."""

    def __init__(
        self,
        folder: Path,
        source: MemorySource,
        every_records: int | None = None,
        letters: Letters | None = None,
        tolerance: Tolerance | None = None,
        duplicates: Duplicates | None = None,
        **sections: Any,
    ) -> None:
        config = load(write_config(folder / "config.yaml", **sections))
        self.events: list[Event] = []
        self.source = source
        self.now = 0.0
        self.tagger = build_tagger(config)
        self.copier = Copier()
        self.duplicates = duplicates or Duplicates()
        self.tolerance = tolerance or Tolerance(None, 1)
        self.progressive = Progressive()
        self.watch = build_watch(config, self.tagger)
        state = folder / "state"
        state.mkdir(exist_ok=True)
        self.store = CheckpointStore(state)
        self._lock = self.store.lock()
        self._lock.__enter__()
        loaded = self.store.load_newest()
        checkpoint = loaded.checkpoint if loaded else None
        if checkpoint:
            self.duplicates.restore(checkpoint.reading)
            self.tolerance.restore(checkpoint.reading)
            self.tagger.restore(checkpoint.model)
            self.progressive.restore(checkpoint.progressive, self.tagger.labels)
            self.watch.restore(checkpoint.progressive["drift"], checkpoint.sequences_seen)
        positions = dict(checkpoint.positions) if checkpoint else source.start_positions()
        source.open(positions)
        self.pipeline = Pipeline(
            self.tagger, self.progressive, checkpoint.sequences_seen if checkpoint else 0, self.watch
        )
        self.writer = BackgroundWriter(self.store)
        lineage = Lineage("test", "run", "0", "digest", {}, StreamIdentity(), {})
        self.keeper = Keeper(
            self.writer,
            CheckpointSchedule(None, every_records),
            lineage,
            checkpoint.seq if checkpoint else -1,
            source.commit,
            self.events.append,
        )
        self.loop = Loop(
            source,
            BatchReader(RecordCodec(), self.tagger, self.duplicates),
            self.tolerance,
            letters or Skipped(),
            self.pipeline,
            self.keeper,
            positions,
            self._snapshot,
            self.events.append,
            clock=lambda: self.now,
        )

    def _snapshot(self, positions: Mapping[TopicPartition, Position]) -> Snapshot:
        progressive = {**self.progressive.state(), "drift": self.watch.state()}
        model = self.copier.copy(self.tagger.view())
        seen = self.pipeline.sequences_seen
        reading = {**self.duplicates.state(), **self.tolerance.state()}
        return Snapshot(dict(positions), seen, progressive, model, reading)

    def run(self, turns: int) -> None:
        """Run for so many turns, then stop in order."""
        left = iter([False] * turns + [True])
        self.loop.run(lambda: next(left))
        self.crash()

    def crash(self) -> None:
        """End without saving anything, as a kill would; what was saved stays."""
        self.writer.close(10)
        self._lock.__exit__(None, None, None)

    def state(self) -> dict[str, Any]:
        """Give weights, scores and what is watched."""
        return {
            "model": self.tagger.state(),
            "progressive": self.progressive.state(),
            "drift": self.watch.state(),
        }

    def of_type(self, kind: type[Event]) -> list[Any]:
        """Give the events of one type."""
        return [event for event in self.events if isinstance(event, kind)]
