import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.beam import beam_search, best_prefix, violation
from streamlearn.kernels.chain.viterbi import viterbi
from tests import naive
from tests.kernels.lattices import by_position, draw_ties, lattice_of, seeds


@st.composite
def problems(draw):
    """Draw scores, many of which are equal, and a gold labelling."""
    rng, length, labels = draw(seeds), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    emit, trans = draw_ties(rng, length, labels, draw(st.booleans()), most=2)
    return emit, trans, rng.integers(0, labels, length).astype(np.int32)


def beam_of(emit, trans, width):
    length, labels = emit.shape
    return beam_search(lattice_of(emit, trans), length, labels, len(trans) > 1, width)


def beams(emit, trans):
    """Yield the beam of every width, up to the number of labels."""
    for width in range(1, emit.shape[1] + 1):
        yield width, beam_of(emit, trans, width)


def beams_without(emit, trans, gold):
    """Yield those whose best labelling is not gold."""
    for _, beam in beams(emit, trans):
        if prefix_of(beam, len(gold))[1] != gold.tolist():
            yield beam


def prefix_of(beam, length):
    path = np.empty(length, np.int32)
    return best_prefix(beam, path), path.tolist()


def prefix_score(emit, trans, path):
    return naive.path_score(emit, by_position(emit, trans), list(path))


def size_of(emit, trans, gold, beam, is_early):
    """Return the length of the prefix that an update is about."""
    return violation(lattice_of(emit, trans), gold, len(trans) > 1, beam, is_early)


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_a_beam_of_all_labels_finds_what_viterbi_finds(problem):
    emit, trans, gold = problem
    path, labels = np.empty(len(gold), np.int32), emit.shape[1]
    best = viterbi(lattice_of(emit, trans), labels, len(trans) > 1, path)
    for width in (labels, labels + 3):
        assert prefix_of(beam_of(emit, trans, width), len(gold)) == (best, path.tolist())


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_each_position_keeps_the_best_labels_that_what_was_kept_before_leads_to(problem):
    emit, trans, _ = problem
    for width, beam in beams(emit, trans):
        for t, prefixes in enumerate(naive.beam(emit, by_position(emit, trans), width)):
            assert beam.kept[t].tolist() == sorted(path[-1] for _, path in prefixes)
            assert prefix_of(beam, t + 1) == prefixes[0]


@pytest.mark.parametrize("is_early", [True, False], ids=["early", "max"])
@settings(max_examples=80, deadline=None)
@given(problem=problems())
def test_an_update_is_always_about_a_violation(is_early, problem):
    emit, trans, gold = problem
    for beam in beams_without(*problem):
        size = size_of(*problem, beam, is_early)
        score, path = prefix_of(beam, size)
        assert path != gold[:size].tolist()
        assert score >= prefix_score(emit, trans, gold[:size])


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_the_largest_violation_is_no_smaller_than_any_other(problem):
    emit, trans, gold = problem
    for beam in beams_without(*problem):
        sizes = range(1, len(gold) + 1)
        by = [prefix_of(beam, n)[0] - prefix_score(emit, trans, gold[:n]) for n in sizes]
        assert size_of(*problem, beam, is_early=False) == max(sizes, key=lambda n: (by[n - 1], n))


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_an_early_update_ends_where_a_gold_label_is_first_not_kept_and_never_with_all_kept(problem):
    emit, trans, gold = problem
    for width, beam in beams(emit, trans):
        lost = [t + 1 for t in range(len(gold)) if gold[t] not in beam.kept[t]]
        assert size_of(*problem, beam, is_early=True) == (lost[0] if lost else len(gold))
        assert width < emit.shape[1] or not lost


def test_a_label_that_is_not_known_is_not_kept():
    beam = beam_search(lattice_of(np.zeros((3, 2)), np.zeros((1, 2, 2))), 3, 1, False, 5)
    gold = np.array([0, 1, 0], np.int32)
    assert violation(lattice_of(np.zeros((3, 2)), np.zeros((1, 2, 2))), gold, False, beam, True) == 2
