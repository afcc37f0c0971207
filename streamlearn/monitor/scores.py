"""Scores of a test set: token accuracy, and precision, recall and F1 of spans, overall and by label."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.monitor.span_counts import Integers, LabelScheme


def precision_recall_f1(gold: float, predicted: float, right: float) -> tuple[float, float, float]:
    """Return the three ratios from counts; 0.0 in place of 0/0, as conlleval.pl does.

    >>> precision_recall_f1(gold=4, predicted=2, right=1)
    (0.5, 0.25, 0.3333333333333333)
    """
    precision = right / predicted if predicted else 0.0
    recall = right / gold if gold else 0.0
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


class Scores:
    """Accumulates the counts of batches and reports the scores.

    Examples
    --------
    >>> scores = Scores()
    >>> gold, predicted = np.array([1, 2, 0, 1]), np.array([1, 2, 0, 0])
    >>> scores.update(["O", "B-NP", "I-NP"], gold, predicted, np.array([0, 4]))
    >>> report = scores.report()
    >>> report["token_accuracy"], report["precision"], report["recall"]
    (0.75, 1.0, 0.5)
    """

    def __init__(self) -> None:
        self._scheme = LabelScheme()
        self._totals = np.zeros(7, np.int64)
        self._types = np.zeros((0, 3), np.int64)
        self._labels = np.zeros((0, 3), np.int64)

    def update(self, labels: Sequence[str], gold: Integers, predicted: Integers, offsets: Integers) -> None:
        """Add a batch; `labels` names the numbers, and may have grown at its end since the last batch.

        Parameters
        ----------
        gold, predicted : label numbers of all tokens, one sequence after the other.
        offsets : N + 1 token numbers; sequence i is ``offsets[i]:offsets[i + 1]``.
        """
        self._scheme.grow(labels)
        counts = self._scheme.count(gold, predicted, offsets)
        self._totals += counts.sequences.sum(axis=0)
        self._types = _sum(self._types, counts.types)
        self._labels = _sum(self._labels, counts.labels[:-1])

    def report(self) -> dict[str, Any]:
        """Return sequences, tokens and ratios 0-1.

        `precision`, `recall` and `f1` are micro averages over all spans, as conlleval.pl prints them; None
        if the labels do not mark spans. `per_label` contains precision, recall, f1 and support (the number of
        gold ones) of each span type, or of each label if the labels do not mark spans.
        """
        sequences, _, tokens, right, *spans = self._totals.tolist()
        is_spans = self._scheme.is_spans
        precision, recall, f1 = precision_recall_f1(*spans) if is_spans else (None, None, None)
        names = self._scheme.type_names if is_spans else self._scheme.labels
        return {
            "sequences": sequences,
            "tokens": tokens,
            "token_accuracy": right / tokens if tokens else 0.0,
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "per_label": _by_name(names, self._types if is_spans else self._labels),
        }


def _by_name(names: Sequence[str], counts: NDArray[np.int64]) -> dict[str, dict[str, float]]:
    found = {}
    for name, (gold, predicted, right) in sorted(zip(names, counts.tolist(), strict=True)):
        if gold or predicted:
            precision, recall, f1 = precision_recall_f1(gold, predicted, right)
            found[name] = {"precision": precision, "recall": recall, "f1": f1, "support": gold}
    return found


def _sum(total: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add two tables; `counts` may have more rows."""
    result = counts.copy()
    result[: len(total)] += total
    return result
