import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.chain.beam import beam_search, best_prefix, violation
from streamlearn.kernels.chain.viterbi import viterbi
from tests import naive
from tests.kernels.lattices import lattice_of

shapes = given(
    rng=st.integers(0, 2**32 - 1).map(np.random.default_rng),
    length=st.integers(1, 6),
    labels=st.integers(1, 4),
    rich=st.booleans(),
)


def draw(rng, length, labels, rich):
    """Draw scores of which many are equal, and a gold labelling."""
    emit = rng.integers(-2, 3, (length, labels)).astype(np.float64)
    trans = rng.integers(-2, 3, (length if rich else 1, labels, labels)).astype(np.float64)
    return emit, trans, rng.integers(0, labels, length).astype(np.int32)


def prefix_of(beam, length):
    path = np.empty(length, np.int32)
    return best_prefix(beam, path), path.tolist()


def prefix_score(emit, trans, path, rich):
    shared = trans if rich else np.repeat(trans, len(emit), axis=0)
    return naive.path_score(emit, shared, list(path))


@settings(max_examples=60, deadline=None)
@shapes
def test_a_beam_of_all_labels_finds_what_viterbi_finds(rng, length, labels, rich):
    emit, trans, _ = draw(rng, length, labels, rich)
    path = np.empty(length, np.int32)
    best = viterbi(lattice_of(emit, trans), labels, rich, path)
    for width in (labels, labels + 3):
        beam = beam_search(lattice_of(emit, trans), length, labels, rich, width)
        assert prefix_of(beam, length) == (best, path.tolist())


@settings(max_examples=60, deadline=None)
@shapes
def test_each_position_keeps_the_best_labels_that_what_was_kept_before_leads_to(rng, length, labels, rich):
    emit, trans, _ = draw(rng, length, labels, rich)
    for width in range(1, labels + 1):
        beam = beam_search(lattice_of(emit, trans), length, labels, rich, width)
        found = naive.beam(emit, trans if rich else np.repeat(trans, length, axis=0), width)
        for t, prefixes in enumerate(found):
            assert beam.kept[t].tolist() == sorted(path[-1] for _, path in prefixes)
            assert prefix_of(beam, t + 1) == prefixes[0]


@pytest.mark.parametrize("is_early", [True, False], ids=["early", "max"])
@settings(max_examples=80, deadline=None)
@shapes
def test_an_update_is_always_about_a_violation(is_early, rng, length, labels, rich):
    emit, trans, gold = draw(rng, length, labels, rich)
    for width in range(1, labels + 1):
        beam = beam_search(lattice_of(emit, trans), length, labels, rich, width)
        if prefix_of(beam, length)[1] == gold.tolist():
            continue
        size = violation(lattice_of(emit, trans), gold, rich, beam, is_early)
        score, path = prefix_of(beam, size)
        assert path != gold[:size].tolist()
        assert score >= prefix_score(emit, trans, gold[:size], rich)


@settings(max_examples=60, deadline=None)
@shapes
def test_the_largest_violation_is_no_smaller_than_any_other(rng, length, labels, rich):
    emit, trans, gold = draw(rng, length, labels, rich)
    for width in range(1, labels + 1):
        beam = beam_search(lattice_of(emit, trans), length, labels, rich, width)
        if prefix_of(beam, length)[1] == gold.tolist():
            continue
        sizes = range(1, length + 1)
        by = [prefix_of(beam, n)[0] - prefix_score(emit, trans, gold[:n], rich) for n in sizes]
        size = violation(lattice_of(emit, trans), gold, rich, beam, False)
        assert size == max(sizes, key=lambda n: (by[n - 1], n))


@settings(max_examples=60, deadline=None)
@shapes
def test_an_early_update_ends_where_a_gold_label_is_first_not_kept_and_never_with_all_kept(
    rng, length, labels, rich
):
    emit, trans, gold = draw(rng, length, labels, rich)
    for width in range(1, labels + 1):
        beam = beam_search(lattice_of(emit, trans), length, labels, rich, width)
        lost = [t + 1 for t in range(length) if gold[t] not in beam.kept[t]]
        size = violation(lattice_of(emit, trans), gold, rich, beam, True)
        assert size == (lost[0] if lost else length)
        assert width < labels or not lost


def test_a_label_that_is_not_known_is_not_kept():
    beam = beam_search(lattice_of(np.zeros((3, 2)), np.zeros((1, 2, 2))), 3, 1, False, 5)
    gold = np.array([0, 1, 0], np.int32)
    assert violation(lattice_of(np.zeros((3, 2)), np.zeros((1, 2, 2))), gold, False, beam, True) == 2
