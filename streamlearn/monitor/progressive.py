"""Progressive (prequential, test-then-train) scores: how each sequence was predicted before it was learned.

Everything is kept as counts of whole sequences, so that neither the size of a micro-batch nor a checkpoint
in between changes one bit of any score. The ratios are those of river's `metrics.Accuracy` and `metrics.F1`
(the tests compare them), computed from counts instead: a metric object of river takes one value a call.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.spans import fade
from streamlearn.monitor.scores import precision_recall_f1
from streamlearn.monitor.spans import Integers, LabelScheme


class Progressive:
    """Scores over three windows of the stream.

    ``lifetime`` is all of it, checkpoints included; ``recent`` the last `window` sequences; ``fading`` weighs
    the sequence n before the newest by ``(1 - fading_factor) ** n`` (Gama, Sebastião & Rodrigues 2013, "On
    evaluating stream learning algorithms", section 3.3).

    The names of the scores are ``accuracy/token/WINDOW``, ``accuracy/sequence/WINDOW`` and, where the labels
    mark spans, ``f1/micro/WINDOW``.

    Parameters
    ----------
    window : sequences in the window by count; costs 56 bytes each.
    fading_factor : weight of the newest sequence, 0-1; a hundredth looks back some hundred sequences.

    Examples
    --------
    >>> progressive = Progressive(window=2)
    >>> scores = progressive.update(np.array([0, 1]), np.array([0, 0]), np.array([0, 2]), ["NN", "VB"])
    >>> scores["accuracy/token/lifetime"], scores["accuracy/sequence/recent"]
    (0.5, 0.0)
    """

    def __init__(self, window: int = 1000, fading_factor: float = 0.01) -> None:
        if window < 1 or not 0.0 <= fading_factor <= 1.0:
            raise ValueError(f"window {window} must be positive and fading_factor {fading_factor} 0-1")
        self._keep = 1.0 - fading_factor
        self._scheme = LabelScheme()
        self._lifetime = np.zeros(7, np.int64)
        # A ring: the n-th sequence of the stream is in column n modulo the window.
        self._recent = np.zeros((7, window), np.int64)
        self._fading = np.zeros(7)

    def update(
        self, gold: Integers, predicted: Integers, offsets: Integers, labels: Sequence[str]
    ) -> Mapping[str, float]:
        """Add a batch and give all scores as of its end.

        Parameters
        ----------
        gold, predicted : label numbers of all tokens, one sequence after the other.
        offsets : N + 1 token numbers; sequence i is ``offsets[i]:offsets[i + 1]``.
        labels : names of the numbers; may have grown at its end since the last batch.
        """
        self._scheme.grow(labels)
        counts = self._scheme.count(gold, predicted, offsets).sequences
        self._store(counts, int(self._lifetime[0]))
        self._lifetime += counts.sum(axis=0)
        fade(counts, self._keep, self._fading)
        return self.scores()

    def scores(self) -> dict[str, float]:
        """Give all scores, ratios 0-1."""
        scores = _scores("lifetime", self._lifetime, self._scheme.is_spans)
        scores.update(_scores("recent", self._recent.sum(axis=1), self._scheme.is_spans))
        scores.update(_scores("fading", self._fading, self._scheme.is_spans))
        return scores

    def state(self) -> dict[str, NDArray[np.int64] | NDArray[np.float64]]:
        """Give what a checkpoint must keep; copies, so that learning may go on.

        Returns
        -------
        ``lifetime`` int64[7], ``recent`` int64[n, 7] with the oldest sequence first, ``fading`` float64[7].
        """
        seen, window = int(self._lifetime[0]), self._recent.shape[1]
        columns = np.arange(seen - min(seen, window), seen) % window
        return {
            "lifetime": self._lifetime.copy(),
            "recent": np.ascontiguousarray(self._recent[:, columns].T),
            "fading": self._fading.copy(),
        }

    def restore(
        self, state: Mapping[str, NDArray[np.int64] | NDArray[np.float64]], labels: Sequence[str]
    ) -> None:
        """Continue from `state`; with another window, from as much of the recent past as both hold."""
        self._scheme = LabelScheme()
        self._scheme.grow(labels)
        self._lifetime = np.array(state["lifetime"], np.int64)
        self._fading = np.array(state["fading"], np.float64)
        self._recent[:] = 0
        recent = np.asarray(state["recent"], np.int64)
        self._store(recent, int(self._lifetime[0]) - len(recent))

    def _store(self, counts: NDArray[np.int64], first: int) -> None:
        """Put sequences, the first of which is number `first` of the stream, into the ring."""
        window = self._recent.shape[1]
        skipped = max(0, len(counts) - window)
        columns = np.arange(first + skipped, first + len(counts)) % window
        self._recent[:, columns] = counts[skipped:].T


def _scores(window: str, counts: NDArray[np.int64] | NDArray[np.float64], is_spans: bool) -> dict[str, float]:
    sequences, right_sequences, tokens, right_tokens, *spans = counts.tolist()
    scores = {
        f"accuracy/token/{window}": right_tokens / tokens if tokens else 0.0,
        f"accuracy/sequence/{window}": right_sequences / sequences if sequences else 0.0,
    }
    if is_spans:
        scores[f"f1/micro/{window}"] = precision_recall_f1(*spans)[2]
    return scores
