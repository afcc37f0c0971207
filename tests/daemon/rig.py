"""A loop over lists and a real store, so that its behaviour can be tested turn by turn."""

from pathlib import Path
from typing import Any

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.drift_watch import build_watch
from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.schedule import CheckpointSchedule
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.config.load import load
from streamlearn.daemon.bad_records import BadRecordSink, NoSink, Tolerance
from streamlearn.daemon.checkpointer import Checkpointer, RunInfo
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.daemon.intake import BatchReader
from streamlearn.daemon.learning_state import LearningState
from streamlearn.daemon.loop import Loop
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import StreamIdentity
from streamlearn.events import Event
from streamlearn.stream.record_codec import RecordCodec
from tests.sequences import write_config
from tests.stream.memory import MemorySource


class Rig:
    """Everything that one run of a daemon has; a second one on the same folder resumes."""

    def __init__(
        self,
        folder: Path,
        source: MemorySource,
        every_records: int | None = None,
        every_seconds: float | None = None,
        sink: BadRecordSink | None = None,
        tolerance: Tolerance | None = None,
        duplicates: Duplicates | None = None,
        **sections: Any,
    ) -> None:
        config = load(write_config(folder / "config.yaml", **sections))
        self.events: list[Event] = []
        self.source = source
        self.now = 0.0
        tagger = build_tagger(config)
        self.learning = LearningState(tagger, build_watch(config, tagger), duplicates, tolerance)
        state = folder / "state"
        state.mkdir(exist_ok=True)
        self.store = CheckpointStore(state)
        self._lock = self.store.lock()
        self._lock.__enter__()
        loaded = self.store.load_newest()
        if loaded:
            self.learning.restore(loaded)
        positions = dict(loaded.checkpoint.positions) if loaded else source.start_positions()
        source.open(positions)
        seq = loaded.checkpoint.seq if loaded else -1
        self.writer = BackgroundWriter(self.store)
        checkpointer = Checkpointer(
            self.writer,
            CheckpointSchedule(every_seconds, every_records),
            self.learning,
            RunInfo("test", "run", "0", "digest", {}, StreamIdentity(), {}, seq),
            source.commit,
            self.events.append,
        )
        self.loop = Loop(
            source,
            positions,
            BatchReader(RecordCodec(), tagger, self.learning.duplicates, self.learning.tolerance),
            sink or NoSink(),
            Pipeline(self.learning),
            checkpointer,
            self.events.append,
            clock=lambda: self.now,
        )

    def run(self, turns: int) -> None:
        """Run for this many turns, then stop cleanly."""
        left = iter([False] * turns + [True])
        self.loop.run(lambda: next(left))
        self.crash()

    def crash(self) -> None:
        """End without saving anything, as a kill would; what was saved stays."""
        self.writer.close(10)
        self._lock.__exit__(None, None, None)

    def state(self) -> dict[str, Any]:
        """Return weights, scores and what is watched, but not the history, which has times."""
        learning = self.learning
        return {
            "model": learning.tagger.state(),
            "progressive": learning.progressive.state(),
            "drift": learning.watch.state(),
        }

    def of_type(self, kind: type[Event]) -> list[Any]:
        """Return the events of one type."""
        return [event for event in self.events if isinstance(event, kind)]
