"""Learning one batch while the next is read: every example passes here, from a stream or from files."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamlearn.daemon.learning_state import LearningState
from streamlearn.data import Batch
from streamlearn.events import Drift, Learned
from streamlearn.features.batches import cut
from streamlearn.learners.base import Outcome, joined_outcomes
from streamlearn.monitor.signals import LearnedBatch


class _Result(NamedTuple):
    outcome: Outcome
    drifts: list[Drift]
    seconds: float


@dataclass(frozen=True, slots=True)
class _PendingBatch:
    batch: Batch
    decode_seconds: float
    future: "Future[_Result]"


class Pipeline:
    """A thread that learns, one batch deep; kernels release the GIL, so that reading continues meanwhile.

    Parameters
    ----------
    state : what learns; nothing else may change it between `submit` and `settle`.
    """

    def __init__(self, state: LearningState) -> None:
        self._state = state
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="learner")
        self._pending: _PendingBatch | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=True)

    def submit(self, batch: Batch, decode_seconds: float) -> None:
        """Begin to learn a batch of one sequence or more; the one before must be settled."""
        if self._pending is not None:
            raise RuntimeError("the batch before is not settled")
        self._pending = _PendingBatch(batch, decode_seconds, self._thread.submit(self._learn, batch))

    def seconds(self) -> float:
        """Return the CPU time that the learning thread has used."""
        return self._thread.submit(time.thread_time).result()

    def settle(self) -> Learned | None:
        """Wait for the batch that is being learned and score it; None if there is none."""
        if self._pending is None:
            return None
        pending, self._pending = self._pending, None
        outcome, drifts, learn_seconds = pending.future.result()
        batch, state, scores = pending.batch, self._state, self._state.progressive
        labels = state.tagger.labels[: batch.labels_known[-1]]
        counts = scores.update(batch.labels, outcome.predicted, batch.starts, labels)
        state.sequences_seen += len(counts)
        _, _, tokens, right_tokens, *_ = counts.T
        return Learned(
            lengths=tokens,
            wrong=tokens - right_tokens,
            updated=outcome.updated,
            losses=outcome.losses,
            decode_seconds=pending.decode_seconds,
            learn_seconds=learn_seconds,
            standing=state.standing(),
            drifts=drifts,
            gold=_counted(labels, batch.labels),
            predicted=_counted(labels, outcome.predicted),
            off_scheme=state.tagger.scheme.unexpected_in(batch.evidence),
            detected_scheme=state.tagger.scheme.detected,
            sightings=outcome.sightings,
            unknown=int(outcome.unknown.sum()),
        )

    def _learn(self, batch: Batch) -> _Result:
        begin = time.perf_counter()
        tagger, watch, convergence = self._state.tagger, self._state.watch, self._state.convergence
        outcomes: list[Outcome] = []
        drifts: list[Drift] = []
        for part in cut(batch, watch.stops(len(batch.importance))):
            outcome = tagger.learn_batch(part)
            outcomes.append(outcome)
            drifts += watch.update(
                LearnedBatch(part.starts, part.labels, outcome.predicted, outcome.losses, outcome.unknown)
            )
        convergence.add(len(batch.labels_known), time.perf_counter() - begin)
        if convergence.is_due:
            convergence.compare(tagger)
        return _Result(joined_outcomes(outcomes), drifts, time.perf_counter() - begin)


def _counted(names: Sequence[str], labels: NDArray[np.int32]) -> dict[str, int]:
    """Return how many tokens have each label; -1 is none."""
    counts = np.bincount(labels[labels >= 0], minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count}
