"""The marks that a scheme gives to spans, from the marks of any other scheme."""

from streamlearn.kernels.arrays import Int64s, Integers, Uint8s
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.spans import BEGINS, ENDS, INSIDE, SpanMarks, joined

# The schemes that differ in more than letters.
SCHEMES = BIO, IOB1, IOBES = 0, 1, 2


@inner_kernel
def _mark(scheme, begins, ends, touches):
    """Return the mark of a token inside of a span; `touches`: the span follows one of its type."""
    if scheme == IOB1:
        return INSIDE | (BEGINS if touches else 0)
    closed = scheme == IOBES and ends
    return INSIDE | (BEGINS if begins else 0) | (ENDS if closed else 0)


@kernel
def scheme_marks(
    labels: Integers,
    starts: Int64s,
    marked: SpanMarks,
    letters: Uint8s,
    scheme: int,
    marks_out: Uint8s,
    evidence_out: Uint8s,
) -> None:
    """Mark the spans of labels, as conlleval understands them, in another scheme.

    Parameters
    ----------
    labels : int[n], label numbers below L; sequence i is ``starts[i]:starts[i + 1]``.
    marked : marks and types of L labels.
    letters : uint8[L], the column of the evidence that counts the letter of a label, or 0.
    scheme : `BIO`, `IOB1` or `IOBES`.
    marks_out : uint8[n], set: the marks in the scheme; 0 outside of spans.
    evidence_out : uint8[N, C], set: in the first three columns whether the marks differ from those of each of
        the three schemes, in the others whether a letter occurs.
    """
    for i in range(starts.size - 1):
        evidence_out[i] = 0
        for t in range(starts[i], starts[i + 1]):
            mark, kind = marked.marks[labels[t]], marked.types[labels[t]]
            marks_out[t] = 0
            if mark == 0:
                continue
            begins, touches, ends = True, False, True
            if t > starts[i]:
                mark_prev, kind_prev = marked.marks[labels[t - 1]], marked.types[labels[t - 1]]
                begins = not joined(mark_prev, kind_prev, mark, kind)
                touches = begins and mark_prev > 0 and kind_prev == kind
            if t + 1 < starts[i + 1]:
                after = labels[t + 1]
                ends = not joined(mark, kind, marked.marks[after], marked.types[after])
            for each in SCHEMES:
                evidence_out[i, each] |= mark != _mark(each, begins, ends, touches)
            if letters[labels[t]]:
                evidence_out[i, letters[labels[t]]] = 1
            marks_out[t] = _mark(scheme, begins, ends, touches)
