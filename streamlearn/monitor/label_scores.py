"""Recent scores by label, and the most frequent confusions."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from streamlearn.events import LabelScore
from streamlearn.monitor.scores import precision_recall_f1
from streamlearn.monitor.span_counts import CONFUSED, Counts, LabelScheme

# Sequences per block; scores cover the current block and the one before.
BLOCK = 1000


class LabelScores:
    """Counts by label over the last one to two thousand sequences, bounded and independent of batch sizes.

    Scores are by span type if the labels mark spans, else by label.

    Parameters
    ----------
    scheme : names and marks of the labels; its owner adds new labels.
    """

    def __init__(self, scheme: LabelScheme) -> None:
        self._scheme = scheme
        self._types = np.zeros((2, 0, 3), np.int64)
        self._labels = np.zeros((2, 0, 3), np.int64)
        self._confusions = np.zeros((2, CONFUSED + 1, CONFUSED + 1), np.int64)

    def begin_block(self) -> None:
        """Start a new block and drop the block before the current one."""
        for blocks in (self._types, self._labels, self._confusions):
            blocks[0], blocks[1] = blocks[1], 0

    def add(self, counts: Counts) -> None:
        """Add counts of sequences of one block."""
        self._types = _grown(self._types, len(counts.types))
        self._labels = _grown(self._labels, len(counts.labels) - 1)
        self._types[1] += counts.types
        self._labels[1] += counts.labels[:-1]
        self._confusions[1] += counts.confusions

    def scores(self, top: int) -> tuple[dict[str, LabelScore], LabelScore | None]:
        """Return the scores of the `top` most frequent gold labels, and of all others together, if any."""
        is_spans = self._scheme.is_spans
        counts = (self._types if is_spans else self._labels).sum(axis=0)
        names = self._scheme.type_names if is_spans else self._scheme.labels
        order = [y for y in np.argsort(-counts[:, 0], kind="stable").tolist() if counts[y].any()]
        found = {names[y]: _score(counts[y]) for y in order[:top]}
        others = order[top:]
        return found, _score(counts[others].sum(axis=0)) if others else None

    def macro_f1(self) -> float | None:
        """Return the mean F1 over all labels (or span types) that occurred; None if none did."""
        is_spans = self._scheme.is_spans
        counts = (self._types if is_spans else self._labels).sum(axis=0)
        scores = [precision_recall_f1(*each)[2] for each in counts[counts.any(axis=1)].tolist()]
        return float(np.mean(scores)) if scores else None

    def confusions(self, top: int) -> list[tuple[str | None, str | None, int]]:
        """Return gold label, predicted label and count of the most frequent mistakes.

        None stands for any label that is not among the first ones, and for no prediction.
        """
        table = self._confusions.sum(axis=0)
        # Older checkpoints contain correct predictions too.
        np.fill_diagonal(table, 0)
        found = np.flatnonzero(table)
        cells = found[np.argsort(-table.flat[found], kind="stable")][:top].tolist()
        names = dict(enumerate(self._scheme.labels[:CONFUSED]))
        pairs = [divmod(cell, CONFUSED + 1) for cell in cells]
        return [(names.get(y), names.get(z), int(table[y, z])) for y, z in pairs]

    def state(self) -> dict[str, NDArray[np.int64]]:
        """Copy the counts of both blocks."""
        return {
            "label_blocks": self._labels.copy(),
            "type_blocks": self._types.copy(),
            "confusion_blocks": self._confusions.copy(),
        }

    def restore(self, state: Mapping[str, NDArray[np.int64]]) -> None:
        """Continue from a state; start empty if it is an older one without label counts."""
        if "label_blocks" in state:
            self._labels, self._types = state["label_blocks"].copy(), state["type_blocks"].copy()
            self._confusions = state["confusion_blocks"].copy()


def _grown(blocks: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    more = np.zeros((2, size - blocks.shape[1], 3), np.int64)
    return np.concatenate([blocks, more], axis=1) if more.size else blocks


def _score(counts: NDArray[np.int64]) -> LabelScore:
    gold, predicted, right = counts.tolist()
    return LabelScore(*precision_recall_f1(gold, predicted, right), support=gold)
