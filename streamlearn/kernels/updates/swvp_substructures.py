"""JJ of SWVP: the substructures of a wrong prediction that an update looks at (Dror & Reichart 2016, 3.1, 5).

A substructure J is a set of positions. Its mixed assignment m^J is the prediction in J and the gold labelling
elsewhere, so only the wrong positions in J matter: every strategy gives sets of wrong positions, ascending,
none empty and no two alike. All else (margins, γ, conditions, back-off, update) works for any such sets.

A new strategy is a kernel that writes its sets to `sets_out` and gives their number, a code and a branch in
`find_substructures`, and a name in `streamlearn.learners.swvp` and in the configuration.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.jit import kernel
from streamlearn.kernels.spans import joined

SINGLE, WHOLE, BLOCKS, ALL, SPANS = 0, 1, 2, 3, 4

# Set j is positions[starts[j] : starts[j + 1]]; starts[0] is 0. Both int64.
Substructures = namedtuple("Substructures", "starts positions")


@kernel
def new_substructures(longest, max_errors):
    """Allocate what any strategy needs for a sequence of `longest` positions."""
    subsets = 1 << max_errors
    return Substructures(
        np.zeros(1 + max(2 * longest, subsets), np.int64),
        np.empty(max(2 * longest, max_errors * subsets // 2), np.int64),
    )


@kernel
def find_substructures(strategy, wrong, gold, path, marks, max_errors, order, sets_out):
    """Give the number of sets that a strategy writes.

    Parameters
    ----------
    strategy : one of the constants above.
    wrong : int64[k], k ≥ 1, the positions where gold and path differ, ascending.
    gold, path : int32[T].
    marks : SpanMarks of all labels, for SPANS.
    max_errors : for ALL; order : of the chain, 1 or 2.
    """
    if strategy == SINGLE:
        return single(wrong, sets_out)
    if strategy == WHOLE:
        return whole(wrong, sets_out)
    if strategy == BLOCKS:
        return blocks(wrong, order, sets_out)
    if strategy == ALL:
        return all_subsets(wrong, max_errors, order, sets_out)
    return spans(wrong, gold, path, marks, sets_out)


@kernel
def single(wrong, sets_out):
    """Give every wrong position alone: the paper's choice."""
    for i in range(wrong.size):
        sets_out.positions[i] = wrong[i]
        sets_out.starts[i + 1] = i + 1
    return wrong.size


@kernel
def whole(wrong, sets_out):
    """Give all positions: Collins' perceptron."""
    for i in range(wrong.size):
        sets_out.positions[i] = wrong[i]
    sets_out.starts[1] = wrong.size
    return 1


@kernel
def blocks(wrong, order, sets_out):
    """Give maximal runs of wrong positions, of those with fewer than `order` right ones in between.

    No part of the score then sees two blocks: the prediction with a block set right scores less by just the
    margin of the block's mixed assignment, and not more, the prediction being the best. Every block is a
    violation, and any γ meets condition (2).
    """
    n = 0
    for i in range(wrong.size):
        if i == 0 or wrong[i] > wrong[i - 1] + order:
            n += 1
        sets_out.positions[i] = wrong[i]
        sets_out.starts[n] = i + 1
    return n


@kernel
def all_subsets(wrong, max_errors, order, sets_out):
    """Give every set of wrong positions where there are `max_errors` or fewer, else blocks."""
    if wrong.size > max_errors:
        return blocks(wrong, order, sets_out)
    end = 0
    for chosen in range(1, 1 << wrong.size):
        for i in range(wrong.size):
            if chosen >> i & 1:
                sets_out.positions[end] = wrong[i]
                end += 1
        sets_out.starts[chosen] = end
    return (1 << wrong.size) - 1


@kernel
def spans(wrong, gold, path, marks, sets_out):
    """Give the spans of the gold and of the predicted labelling, as far as they are wrong.

    A span is what `streamlearn.kernels.spans` takes for one; wrong positions outside of any are in no set.
    """
    n = _spans_of(gold, wrong, marks, 0, sets_out)
    return _spans_of(path, wrong, marks, n, sets_out)


@kernel
def _spans_of(labelling, wrong, marks, n, sets_out):
    """Add the spans of one labelling to `n` sets."""
    end = sets_out.starts[n]
    mark, type_ = 0, 0
    i = 0
    for t in range(labelling.size + 1):
        # Behind the last position stands one that is outside.
        mark_next = marks.marks[labelling[t]] if t < labelling.size else 0
        type_next = marks.types[labelling[t]] if t < labelling.size else 0
        if end > sets_out.starts[n] and not joined(mark, type_, mark_next, type_next):
            n += _close(n, end, sets_out)
            end = sets_out.starts[n]
        if i < wrong.size and wrong[i] == t:
            if mark_next > 0:
                sets_out.positions[end] = t
                end += 1
            i += 1
        mark, type_ = mark_next, type_next
    return n


@kernel
def _close(n, end, sets_out):
    """End set `n`, unless it is one of those before; give how many were added."""
    begin = sets_out.starts[n]
    # Of two spans, the wrong positions are the same if the first and their number are.
    for j in range(n):
        other = sets_out.starts[j]
        same = sets_out.starts[j + 1] - other == end - begin
        if same and sets_out.positions[other] == sets_out.positions[begin]:
            return 0
    sets_out.starts[n + 1] = end
    return 1
