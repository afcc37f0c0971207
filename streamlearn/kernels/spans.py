"""Counts of spans and tokens, gold against predicted, with conlleval's meaning of a span.

A label is a mark and a type. The mark is a set of bits: `INSIDE` a span; `BEGINS`: no span extends over the
left edge of the token; `ENDS`: none extends over its right edge. With `B = INSIDE | BEGINS`, `I = INSIDE`,
`E = INSIDE | ENDS`, `S = INSIDE | BEGINS | ENDS` and `O = 0`, two neighbours belong to one span if both are
inside, have the same type, and neither bit separates them. This is equivalent to startOfChunk and endOfChunk
of conlleval.pl (Tjong Kim Sang, version 2004-01-26), also for invalid label sequences, with two differences:
that program does not support S, and misses that B begins a span after an E of the same type. Both are handled
as in conlleval.py by mayhewsw and by sighsmile, its ports with IOBES.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.arrays import Floats, Int32s, Int64s, Integers, Uint8s
from streamlearn.kernels.jit import kernel

INSIDE, BEGINS, ENDS = 1, 2, 4

MARKS = {
    "O": 0,
    "I": INSIDE,
    "M": INSIDE,
    "B": INSIDE | BEGINS,
    "E": INSIDE | ENDS,
    "L": INSIDE | ENDS,
    "S": INSIDE | BEGINS | ENDS,
    "U": INSIDE | BEGINS | ENDS,
}
"""The mark of each prefix of labels."""


class SpanMarks(NamedTuple):
    """What each of L labels means for spans.

    Attributes
    ----------
    marks : uint8[L], whether the label is inside a span, begins or ends one.
    types : int32[L], the type of its span.
    """

    marks: Uint8s
    types: Int32s


NO_SPANS = SpanMarks(np.empty(0, np.uint8), np.empty(0, np.int32))


@kernel
def joined(mark_prev, type_prev, mark, type_):
    """Return whether two neighbouring tokens belong to one span."""
    # `&` instead of `and`: whether a span ends is hard to predict, and a mispredicted branch costs more.
    inside = (mark_prev > 0) & (mark > 0) & (type_prev == type_)
    return inside & (mark_prev & ENDS == 0) & (mark & BEGINS == 0)


@kernel
def _count_correct(gold, marks, types, types_out):
    """Count the spans of one sequence without errors: each is gold, predicted and correct."""
    spans, mark_prev, type_prev = 0, 0, 0
    for t in range(gold.size):
        mark, kind = marks[gold[t]], types[gold[t]]
        begins = (mark > 0) & (not joined(mark_prev, type_prev, mark, kind))
        spans += begins
        types_out[kind, 0] += begins
        types_out[kind, 1] += begins
        types_out[kind, 2] += begins
        mark_prev, type_prev = mark, kind
    return spans


@kernel
def _count_sequence(gold, predicted, marks, types, types_out):
    """Count the gold, predicted and correct spans of one sequence."""
    gold_spans, predicted_spans, correct_spans = 0, 0, 0
    # The token before the first one is outside, of any type.
    gold_mark, gold_type, predicted_mark, predicted_type = 0, 0, 0, 0
    # Whether a gold and a predicted span began together, with the same type, and neither has ended since.
    agree = False
    for t in range(gold.size):
        y, z = gold[t], predicted[t]
        gold_joined = joined(gold_mark, gold_type, marks[y], types[y])
        predicted_joined = joined(predicted_mark, predicted_type, marks[z], types[z])
        correct = agree & (not gold_joined) & (not predicted_joined)
        correct_spans += correct
        types_out[gold_type, 2] += correct
        agree &= gold_joined & predicted_joined
        gold_mark, gold_type = marks[y], types[y]
        predicted_mark, predicted_type = marks[z], types[z]
        gold_begins = (gold_mark > 0) & (not gold_joined)
        predicted_begins = (predicted_mark > 0) & (not predicted_joined)
        gold_spans += gold_begins
        predicted_spans += predicted_begins
        types_out[gold_type, 0] += gold_begins
        types_out[predicted_type, 1] += predicted_begins
        agree |= gold_begins & predicted_begins & (gold_type == predicted_type)
    if agree:
        correct_spans += 1
        types_out[gold_type, 2] += 1
    return gold_spans, predicted_spans, correct_spans


@kernel
def _count_tokens(gold, predicted, labels_out, confusions_out):
    """Count the labels of one sequence; return the number of wrong tokens."""
    wrong, others = 0, confusions_out.shape[0] - 1
    for t in range(gold.size):
        y, z = gold[t], predicted[t]
        labels_out[y, 0] += 1
        if y == z:
            labels_out[y, 1] += 1
            labels_out[y, 2] += 1
        else:
            wrong += 1
            labels_out[z, 1] += 1
            confusions_out[min(y, others), min(z, others) if z >= 0 else others] += 1
    return wrong


@kernel
def count_spans(
    gold: Integers,
    predicted: Integers,
    offsets: Integers,
    marks: Uint8s,
    types: Int32s,
    sequences_out: Int64s,
    types_out: Int64s,
    labels_out: Int64s,
    confusions_out: Int64s,
) -> None:
    """Count spans and tokens of a batch.

    Parameters
    ----------
    gold, predicted : int32[T], label numbers below L, or -1 for the last label; sequence i is
        ``offsets[i]:offsets[i + 1]``.
    offsets : int64[N + 1].
    marks, types : uint8[L] and int32[L], as in `SpanMarks`; types are below K.
    sequences_out : int64[N, 7], set: 1, whether all tokens are correct, tokens, correct tokens, gold spans,
        predicted spans, correct spans.
    types_out : int64[K, 3], added to: gold, predicted and correct spans of each type.
    labels_out : int64[L, 3], added to: gold, predicted and correct tokens of each label.
    confusions_out : int64[C + 1, C + 1], added to: wrong tokens by gold and predicted label; the last row and
        column stand for no prediction and for all labels from C on.
    """
    for i in range(offsets.size - 1):
        start, stop = offsets[i], offsets[i + 1]
        y, z = gold[start:stop], predicted[start:stop]
        wrong = _count_tokens(y, z, labels_out, confusions_out)
        if wrong:
            spans = _count_sequence(y, z, marks, types, types_out)
        else:
            correct_spans = _count_correct(y, marks, types, types_out)
            spans = correct_spans, correct_spans, correct_spans
        sequences_out[i, 0] = 1
        sequences_out[i, 1] = wrong == 0
        sequences_out[i, 2] = stop - start
        sequences_out[i, 3] = stop - start - wrong
        sequences_out[i, 4], sequences_out[i, 5], sequences_out[i, 6] = spans


@kernel
def fade(counts: Int64s, keep: float, sums_out: Floats) -> None:
    """Do ``sums = keep · sums + counts[i]`` for each row of int64[N, C] in turn; sums are float64[C]."""
    for i in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            sums_out[c] = keep * sums_out[c] + counts[i, c]
