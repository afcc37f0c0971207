import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.updates import swvp_substructures as kernels
from streamlearn.learners.span_marks import SpanMarkReader
from streamlearn.learners.swvp import SUBSTRUCTURES
from tests import naive_swvp

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y", "E-X", "S-Y", "NNS"]


def find(strategy, gold, guess, max_errors=4, order=1):
    """Return the mixed assignments of the kernel's sets, each set ascending, as labels."""
    numbers = [np.array([BIO.index(label) for label in labels], np.int32) for labels in (gold, guess)]
    wrong = np.flatnonzero(numbers[0] != numbers[1])
    sets = kernels.new_substructures(len(gold), max_errors)
    n = kernels.find_substructures(
        SUBSTRUCTURES[strategy], wrong, *numbers, SpanMarkReader().marks(BIO), max_errors, order, sets
    )
    found = np.split(sets.positions[: sets.starts[n]], sets.starts[1:n])
    found = [J.tolist() for J in found] if n else []
    assert all(J and sorted(set(J)) == J and set(J) <= set(wrong.tolist()) for J in found)
    return [naive_swvp.mixed(J, gold, guess) for J in found]


# The rules of conlleval know labels of spans only.
labellings = st.integers(1, 7).flatmap(
    lambda n: st.tuples(*2 * [st.lists(st.sampled_from(BIO[:-1]), min_size=n, max_size=n)])
)


@pytest.mark.parametrize("strategy", SUBSTRUCTURES)
@settings(max_examples=150, deadline=None)
@given(pair=labellings, order=st.integers(1, 2))
def test_the_mixed_assignments_are_those_of_the_definition_each_once(strategy, pair, order):
    gold, guess = pair
    if gold != guess:
        found = find(strategy, gold, guess, 4, order)
        assert len(found) == len(set(found))
        assert set(found) == set(naive_swvp.mixed_assignments(strategy, gold, guess, 4, order))


BY_HAND = {
    "a type that is wrong from end to end": ("O B-X I-X O", "O B-Y I-Y O", [{1, 2}]),
    "a span in place of two": ("B-X I-X B-X I-X", "B-X I-X I-X I-X", [{2}]),
    "a border that is wrong": ("B-X I-X O O", "B-X I-X I-X O", [{2}]),
    "two that overlap": ("B-X I-X I-X O", "O B-X I-X I-X", [{0, 1}, {1, 3}]),
    "none at all": ("NNS O", "O NNS", []),
}


@pytest.mark.parametrize(("gold", "guess", "wanted"), BY_HAND.values(), ids=BY_HAND)
def test_spans_by_hand(gold, guess, wanted):
    gold, guess = gold.split(), guess.split()
    wrong = {t for t in range(len(gold)) if gold[t] != guess[t]}
    expected = {naive_swvp.mixed(J & wrong, gold, guess) for J in wanted}
    assert set(find("spans", gold, guess)) == expected


def test_too_many_errors_for_all_sets_are_blocks():
    gold, guess = ["O"] * 6, ["B-X", "B-X", "O", "B-X", "B-X", "B-X"]
    assert find("all", gold, guess, 4) == find("blocks", gold, guess)
    assert len(find("all", gold, guess, 5)) == 31
