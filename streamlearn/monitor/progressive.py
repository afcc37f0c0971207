"""Progressive (prequential, test-then-train) scores: each sequence is predicted before it is learned.

All scores are computed from counts per sequence, so that neither the batch size nor a checkpoint in between
changes one bit of any score. The ratios equal those of river's `metrics.Accuracy` and `metrics.F1` (the tests
compare them), but are computed from counts, because river's metric objects take one value per call.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.spans import fade
from streamlearn.monitor.label_scores import BLOCK, LabelScores
from streamlearn.monitor.last_hour import LastHour
from streamlearn.monitor.scores import precision_recall_f1
from streamlearn.monitor.span_counts import Integers, LabelScheme


class Progressive:
    """Scores over four windows of the stream.

    ``lifetime`` is the whole stream, across restarts; ``recent`` the last `window` sequences; ``fading``
    weights the sequence n before the last one by ``(1 - fading_factor) ** n`` (Gama, Sebastião & Rodrigues
    2013, "On evaluating stream learning algorithms", section 3.3); ``hour`` is what this process learned in
    the last 60 minutes.

    The names of the scores are ``accuracy/token/WINDOW``, ``accuracy/sequence/WINDOW`` and, where the labels
    mark spans, ``f1/micro/WINDOW``; and ``f1/macro/recent``, the mean over labels or span types. A window
    without sequences has no score.

    Parameters
    ----------
    window : sequences in the window ``recent``; 56 bytes each.
    fading_factor : weight of the last sequence, 0-1; 0.01 averages over about a hundred sequences.
    clock : returns monotonic seconds.

    Attributes
    ----------
    by_label : scores and confusions of labels.

    Examples
    --------
    >>> progressive = Progressive(window=2)
    >>> counts = progressive.update(np.array([0, 1]), np.array([0, 0]), np.array([0, 2]), ["NN", "VB"])
    >>> scores = progressive.scores()
    >>> scores["accuracy/token/lifetime"], scores["accuracy/sequence/recent"]
    (0.5, 0.0)
    """

    def __init__(
        self,
        window: int = 1000,
        fading_factor: float = 0.01,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if window < 1 or not 0.0 <= fading_factor <= 1.0:
            raise ValueError(f"window {window} must be positive and fading_factor {fading_factor} 0-1")
        self._keep = 1.0 - fading_factor
        self._scheme = LabelScheme()
        self._lifetime = np.zeros(7, np.int64)
        # A ring: the n-th sequence of the stream is in column n modulo the window.
        self._recent = np.zeros((7, window), np.int64)
        self._fading = np.zeros(7)
        self._hour = LastHour(7)
        self._clock = clock
        self.by_label = LabelScores(self._scheme)

    def update(
        self, gold: Integers, predicted: Integers, offsets: Integers, labels: Sequence[str]
    ) -> NDArray[np.int64]:
        """Add a batch of N sequences and return the counts of each, int64[N, 7]: `Counts.sequences`.

        Parameters
        ----------
        gold, predicted : label numbers of all tokens, one sequence after the other.
        offsets : N + 1 token numbers; sequence i is ``offsets[i]:offsets[i + 1]``.
        labels : names of the numbers; may have grown at its end since the last batch.
        """
        self._scheme.grow(labels)
        first, size = int(self._lifetime[0]), len(offsets) - 1
        edges = [0, *range(BLOCK - first % BLOCK, size, BLOCK), size]
        counts = []
        for begin, end in pairwise(edges):
            if begin or (first and first % BLOCK == 0):
                self.by_label.begin_block()
            counts.append(self._add(gold, predicted, offsets[begin : end + 1]))
        return np.concatenate(counts)

    def _add(self, gold: Integers, predicted: Integers, offsets: Integers) -> NDArray[np.int64]:
        """Add sequences of one block."""
        begin, end = offsets[0], offsets[-1]
        gold, predicted = gold[begin:end], predicted[begin:end]
        counts = self._scheme.count(gold, predicted, offsets - begin)
        total = counts.sequences.sum(axis=0)
        self._store(counts.sequences, int(self._lifetime[0]))
        self._lifetime += total
        self._hour.add(total, self._clock())
        fade(counts.sequences, self._keep, self._fading)
        self.by_label.add(counts)
        return counts.sequences

    def scores(self) -> dict[str, float]:
        """Return the scores that depend on the stream alone, ratios 0-1; none before the first sequence."""
        scores = _scores("lifetime", self._lifetime, self._scheme.is_spans)
        scores.update(_scores("recent", self._recent.sum(axis=1), self._scheme.is_spans))
        scores.update(_scores("fading", self._fading, self._scheme.is_spans))
        macro = self.by_label.macro_f1()
        if macro is not None:
            scores["f1/macro/recent"] = macro
        return scores

    def last_hour(self) -> dict[str, float]:
        """Return the scores of the last hour, as of now; none if nothing was learned in it.

        They change with the time, so they are asked for when they are shown; any thread may.
        """
        return _scores("hour", self._hour.sums(self._clock()), self._scheme.is_spans)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state for a checkpoint; copies, so that learning can continue.

        Returns
        -------
        ``lifetime`` int64[7], ``recent`` int64[n, 7] with the oldest sequence first, ``fading`` float64[7],
        and the blocks of `LabelScores`.
        """
        seen, window = int(self._lifetime[0]), self._recent.shape[1]
        columns = np.arange(seen - min(seen, window), seen) % window
        return {
            "lifetime": self._lifetime.copy(),
            "recent": np.ascontiguousarray(self._recent[:, columns].T),
            "fading": self._fading.copy(),
            **self.by_label.state(),
        }

    def restore(self, state: Mapping[str, NDArray[Any]], labels: Sequence[str]) -> None:
        """Continue from `state`; if the window has changed, with the recent sequences that fit into both."""
        self._scheme = LabelScheme()
        self._scheme.grow(labels)
        self._lifetime = np.array(state["lifetime"], np.int64)
        self._fading = np.array(state["fading"], np.float64)
        self._recent[:] = 0
        recent = np.asarray(state["recent"], np.int64)
        self._store(recent, int(self._lifetime[0]) - len(recent))
        self._hour = LastHour(7)
        self.by_label = LabelScores(self._scheme)
        self.by_label.restore(state)

    def _store(self, counts: NDArray[np.int64], first: int) -> None:
        """Put sequences, the first of which is number `first` of the stream, into the ring."""
        window = self._recent.shape[1]
        skipped = max(0, len(counts) - window)
        columns = np.arange(first + skipped, first + len(counts)) % window
        self._recent[:, columns] = counts[skipped:].T


def _scores(window: str, counts: NDArray[np.int64] | NDArray[np.float64], is_spans: bool) -> dict[str, float]:
    sequences, right_sequences, tokens, right_tokens, *spans = counts.tolist()
    if not sequences:
        return {}
    scores = {
        f"accuracy/token/{window}": right_tokens / tokens,
        f"accuracy/sequence/{window}": right_sequences / sequences,
    }
    if is_spans:
        scores[f"f1/micro/{window}"] = precision_recall_f1(*spans)[2]
    return scores
