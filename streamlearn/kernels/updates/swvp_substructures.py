"""JJ of SWVP: the substructures of a wrong prediction that an update uses (Dror & Reichart 2016, 3.1 and 5).

A substructure J is a set of positions. Its mixed assignment m^J is the prediction in J and the gold labelling
elsewhere, so only the wrong positions in J matter: every strategy writes sets of wrong positions, ascending,
none empty and no two equal. Everything else (margins, γ, conditions, back-off, update) works for any such
sets.

A new strategy is a kernel that writes its sets to `sets_out` and returns their number, a constant and a
branch in `find_substructures`, and a name in `streamlearn.choices` and `streamlearn.learners.swvp`.
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
    """Write the sets of a strategy; return their number.

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
    """Write every wrong position as a set of its own: the paper's choice."""
    for i in range(wrong.size):
        sets_out.positions[i] = wrong[i]
        sets_out.starts[i + 1] = i + 1
    return wrong.size


@kernel
def whole(wrong, sets_out):
    """Write all wrong positions as one set: Collins' perceptron."""
    for i in range(wrong.size):
        sets_out.positions[i] = wrong[i]
    sets_out.starts[1] = wrong.size
    return 1


@kernel
def blocks(wrong, order, sets_out):
    """Write maximal runs of wrong positions, with fewer than `order` correct ones in between.

    No feature then depends on the labels of two blocks. If a block of the prediction is corrected, the score
    changes by exactly the margin of the block's mixed assignment; since the prediction has the best score,
    this margin is not above 0. Every block is a violation, and any γ meets condition (2).
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
    """Write every set of wrong positions if there are `max_errors` or fewer, otherwise blocks."""
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
    """Write the wrong positions of each span of the gold and of the predicted labelling.

    Spans are those of `streamlearn.kernels.spans`. Wrong positions outside of all spans are in no set.
    """
    n = _spans_of(gold, wrong, marks, 0, sets_out)
    return _spans_of(path, wrong, marks, n, sets_out)


@kernel
def _spans_of(labelling, wrong, marks, n, sets_out):
    """Add the spans of one labelling to `n` sets; return the number of sets."""
    end = sets_out.starts[n]
    mark, type_ = 0, 0
    i = 0
    for t in range(labelling.size + 1):
        # The position after the last one is outside.
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
    """Close set `n`, unless it equals one before it; return how many sets were added, 0 or 1."""
    begin = sets_out.starts[n]
    # Two spans have the same wrong positions if their number and the first of them are equal.
    for j in range(n):
        other = sets_out.starts[j]
        same = sets_out.starts[j + 1] - other == end - begin
        if same and sets_out.positions[other] == sets_out.positions[begin]:
            return 0
    sets_out.starts[n + 1] = end
    return 1
