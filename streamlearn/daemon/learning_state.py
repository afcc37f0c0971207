"""Everything that learning depends on, as one object that a checkpoint saves and a start restores."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np

from streamlearn.checkpoint.codec import State
from streamlearn.checkpoint.copier import Copier
from streamlearn.checkpoint.reading import Loaded
from streamlearn.daemon.bad_records import Tolerance
from streamlearn.daemon.checkpointer import Snapshot
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.data import Position, TopicPartition
from streamlearn.errors import CheckpointError
from streamlearn.events import Resumed, Standing
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.convergence import Convergence
from streamlearn.monitor.drift import DriftWatch
from streamlearn.monitor.history import History
from streamlearn.monitor.progressive import Progressive

# Labels, and confusions of labels, that are reported one by one.
TOP_LABELS = 8


class _Part(NamedTuple):
    """One component: where a checkpoint keeps its state, and how that is saved and restored.

    `key` is the place in the section; "" adds the keys of the state to the section itself.
    """

    section: Literal["model", "progressive", "reading"]
    key: str
    save: Callable[[], State]
    restore: Callable[[State], None]


class LearningState:
    """The model, its scores and what is remembered of the stream.

    Parameters
    ----------
    tagger : the model.
    watch : drift detection; off if not given.
    duplicates, tolerance : what is remembered of recent records; nothing if not given.

    Attributes
    ----------
    progressive : scores of every sequence, predicted before it was learned.
    history : learning curve and drifts since the first start.
    convergence : how much the weights change; each process starts its own.
    sequences_seen : sequences learned since the first start, each counted once.
    """

    def __init__(
        self,
        tagger: Tagger,
        watch: DriftWatch | None = None,
        duplicates: Duplicates | None = None,
        tolerance: Tolerance | None = None,
    ) -> None:
        self.tagger = tagger
        self.progressive = Progressive()
        self.watch = watch or DriftWatch()
        self.history = History()
        self.convergence = Convergence()
        self.duplicates = duplicates or Duplicates()
        self.tolerance = tolerance or Tolerance(None, 1)
        self.sequences_seen = 0
        self._copier = Copier()
        # All that is saved, in the order of the file; later parts may depend on what earlier ones restored.
        self._parts = (
            _Part("model", "", self._copy_model, self._restore_model),
            _Part("progressive", "", self.progressive.state, self._restore_scores),
            _Part("progressive", "drift", self.watch.state, self._restore_watch),
            _Part("progressive", "history", self.history.state, self.history.restore),
            _Part("reading", "", self.duplicates.state, self.duplicates.restore),
            _Part("reading", "", self.tolerance.state, self.tolerance.restore),
        )

    def snapshot(self, positions: Mapping[TopicPartition, Position]) -> Snapshot:
        """Return a copy of everything, of the instant at which the stream stands at `positions`.

        Its arrays hold until the next snapshot, which reuses their memory.
        """
        sections: dict[str, State] = {part.section: {} for part in self._parts}
        for part in self._parts:
            saved = part.save()
            sections[part.section] |= {part.key: saved} if part.key else saved
        return Snapshot(dict(positions), self.sequences_seen, **sections)

    def restore(self, loaded: Loaded) -> None:
        """Continue from a checkpoint, bit for bit.

        Raises
        ------
        CheckpointError : it is not the state of such a model, though its checksum is right.
        """
        checkpoint = loaded.checkpoint
        self.sequences_seen = checkpoint.sequences_seen
        with _refuse_malformed(loaded.where):
            for part in self._parts:
                section: State = getattr(checkpoint, part.section)
                # Parts may be younger than the checkpoint.
                part.restore(section.get(part.key, {}) if part.key else section)

    def resume(self, loaded: Loaded, reached: Mapping[TopicPartition, int]) -> Resumed:
        """Continue from a checkpoint and return what to report of it.

        Parameters
        ----------
        reached : how far earlier processes had read each partition.

        Raises
        ------
        CheckpointError : as `restore`.
        """
        self.restore(loaded)
        # The norm of the weights is not saved, but it can be measured again.
        self.convergence.compare(self.tagger)
        checkpoint = loaded.checkpoint
        return Resumed(
            seq=checkpoint.seq,
            size_bytes=loaded.size_bytes,
            created_unix=checkpoint.created_unix,
            standing=self.standing(),
            corrupt=loaded.corrupt,
            reached=reached,
        )

    def standing(self) -> Standing:
        """Return the model in figures and its scores, as of the last sequence."""
        by_label = self.progressive.by_label
        labels, others = by_label.scores(TOP_LABELS)
        return Standing(
            sequences_seen=self.sequences_seen,
            progressive=self.progressive.scores(),
            gauges={**self.tagger.gauges(), **self.convergence.gauges()},
            labels=labels,
            other_labels=others,
            confusions=by_label.confusions(TOP_LABELS),
            drift_scores=self.watch.scores(),
        )

    def _copy_model(self) -> State:
        model: State = self._copier.copy(self.tagger.view())
        return model

    def _restore_model(self, saved: State) -> None:
        _require_form(saved, self.tagger.view(), "model")
        self.tagger.restore(saved)
        # Fails if arrays have other lengths than the learner expects.
        self.tagger.gauges()

    def _restore_scores(self, saved: State) -> None:
        _require_form(saved, self.progressive.state(), "progressive")
        self.progressive.restore(saved, self.tagger.labels)
        self.progressive.scores()

    def _restore_watch(self, saved: State) -> None:
        self.watch.restore(saved, self.sequences_seen)


@contextmanager
def _refuse_malformed(where: str) -> Iterator[None]:
    """Turn whatever a malformed state raises into one line.

    A bad disk makes no such file, since its checksum is right, but a malicious person may.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{where}: the checksum is right, but the state is malformed: {error!r:.200}; "
            "restore another checkpoint"
        ) from error


def _require_form(saved: Any, wanted: Any, where: str) -> None:
    """Refuse types that differ from those of a state before the first sequence: kernels rely on them."""
    if type(saved) is not type(wanted):
        raise TypeError(f"{where} is {type(saved).__name__}, wanted {type(wanted).__name__}")
    if isinstance(saved, np.ndarray):
        got, form = (saved.dtype.str, saved.ndim), (wanted.dtype.str, wanted.ndim)
        if got != form:
            raise TypeError(f"{where} is an array of {got}, wanted {form}")
    elif isinstance(saved, dict):
        # A missing key may be younger than the state: whoever restores it knows.
        for key in saved.keys() & wanted.keys():
            _require_form(saved[key], wanted[key], f"{where}/{key}")
