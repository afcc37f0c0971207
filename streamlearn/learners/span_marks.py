"""What labels mean for spans, according to their names."""

from collections.abc import Sequence

import numpy as np

from streamlearn.kernels.spans import MARKS, NO_SPANS, SpanMarks


class SpanMarkReader:
    """Reads span marks from the names of labels, and does so again whenever the labels change.

    A label is a mark of BIO or IOBES, and after the first ``-`` a type. Any other is outside of spans.

    Examples
    --------
    >>> marks, types = SpanMarkReader().marks(["O", "B-X", "I-X", "B-Y", "NNS"])
    >>> marks.tolist(), types.tolist()
    ([0, 3, 1, 3, 0], [0, 1, 1, 2, 0])
    """

    def __init__(self) -> None:
        self._latest: tuple[list[str], SpanMarks] = [], NO_SPANS

    def marks(self, names: Sequence[str]) -> SpanMarks:
        """Return the marks of labels with these names, in their order."""
        known, marks = self._latest
        if known != names:
            parts = [name.partition("-") for name in names]
            number = {kind: k for k, kind in enumerate(dict.fromkeys(kind for _, _, kind in parts))}
            marks = SpanMarks(
                np.array([MARKS.get(prefix, 0) for prefix, _, _ in parts], np.uint8),
                np.array([number[kind] for _, _, kind in parts], np.int32),
            )
            self._latest = list(names), marks
        return marks
