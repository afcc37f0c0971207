"""What labels mean for spans, according to their names."""

from collections.abc import Sequence

from streamlearn.kernels.spans import NO_SPANS, SpanMarks
from streamlearn.label_names import read_labels, span_marks


class SpanMarkReader:
    """Reads span marks from the names of labels, and does so again whenever the labels change.

    Labels are read by `streamlearn.label_names`. What belongs to no scheme is outside of spans.

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
            marks, _ = span_marks(read_labels(names))
            self._latest = list(names), marks
        return marks
