"""Learns one batch while the next is read: the way of every example, from a stream or from files."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from streamlearn.data import Batch
from streamlearn.events import Drift, Learned
from streamlearn.features.batches import cut
from streamlearn.learners.base import Outcome
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.convergence import Convergence
from streamlearn.monitor.drift import DriftWatch
from streamlearn.monitor.progressive import Progressive
from streamlearn.monitor.signals import LearnedBatch

# Labels that are told of one by one.
TOP_LABELS = 8


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
    """A thread that learns, one batch deep; kernels release the GIL, so reading goes on meanwhile.

    Parameters
    ----------
    tagger : what learns; nobody else may let it learn meanwhile.
    progressive : scores every sequence by what was predicted before it was learned.
    sequences_seen : learned before, by the state that `tagger` continues.
    watch : looks for changes of the world, and may change the tagger; nothing if not given.
    """

    def __init__(
        self,
        tagger: Tagger,
        progressive: Progressive,
        sequences_seen: int = 0,
        watch: DriftWatch | None = None,
    ) -> None:
        self._tagger = tagger
        self._progressive = progressive
        self._convergence = Convergence()
        self._watch = watch or DriftWatch()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="learner")
        self._lesson: _PendingBatch | None = None
        self.sequences_seen = sequences_seen

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=True)

    def submit(self, batch: Batch, decode_seconds: float) -> None:
        """Begin to learn a batch of one sequence or more; the one before must be settled."""
        if self._lesson is not None:
            raise RuntimeError("the batch before is not settled")
        self._lesson = _PendingBatch(batch, decode_seconds, self._thread.submit(self._learn, batch))

    def seconds(self) -> float:
        """Give the CPU time that the learning thread has used."""
        return self._thread.submit(time.thread_time).result()

    def settle(self) -> Learned | None:
        """Wait for the batch that is being learned and score it; None if there is none."""
        if self._lesson is None:
            return None
        lesson, self._lesson = self._lesson, None
        outcome, drifts, learn_seconds = lesson.future.result()
        batch = lesson.batch
        labels = self._tagger.labels[: batch.labels_known[-1]]
        before = self._progressive.lifetime
        progressive = self._progressive.update(batch.labels, outcome.predicted, batch.starts, labels)
        sequences, right, tokens, right_tokens, *_ = (self._progressive.lifetime - before).tolist()
        self.sequences_seen += sequences
        return Learned(
            sequences=sequences,
            tokens=tokens,
            sequence_mistakes=sequences - right,
            token_mistakes=tokens - right_tokens,
            updates=int(outcome.updated.sum()),
            loss=float(outcome.losses.sum()),
            lengths=np.diff(batch.starts).tolist(),
            decode_seconds=lesson.decode_seconds,
            learn_seconds=learn_seconds,
            progressive=progressive,
            gauges={**self._tagger.gauges(), **self._convergence.gauges()},
            sequences_seen=self.sequences_seen,
            labels=self._progressive.by_label.scores(TOP_LABELS),
            confusions=self._progressive.by_label.confusions(TOP_LABELS),
            drifts=drifts,
            drift_scores=self._watch.scores(),
        )

    def _learn(self, batch: Batch) -> _Result:
        begin = time.perf_counter()
        outcomes: list[Outcome] = []
        drifts: list[Drift] = []
        for part in cut(batch, self._watch.stops(len(batch.importance))):
            outcome = self._tagger.learn_batch(part)
            outcomes.append(outcome)
            lesson = LearnedBatch(
                part.starts, part.labels, outcome.predicted, outcome.losses, outcome.unknown
            )
            drifts += self._watch.update(lesson)
        self._convergence.add(len(batch.labels_known), time.perf_counter() - begin)
        if self._convergence.is_due:
            self._convergence.compare(self._tagger)
        return _Result(_joined(outcomes), drifts, time.perf_counter() - begin)


def _joined(outcomes: list[Outcome]) -> Outcome:
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(
        *(
            np.concatenate([getattr(one, name) for one in outcomes])
            for name in ("predicted", "losses", "updated")
        )
    )
