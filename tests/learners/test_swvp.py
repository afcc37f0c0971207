"""SWVP against the algorithm over dictionaries of strings, its special case, and the theory of the paper."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.learners.swvp import SUBSTRUCTURES, WEIGHTINGS
from tests import naive, naive_swvp
from tests.learners.build import from_rows, make_bench, perceptron, swvp
from tests.learners.streams import TEMPLATES, cut, make_stream
from tests.states import differences

LABELS = ["O", "B-X", "I-X"]
KINDS = ["U00:%x[0,0]", "*01:%x[0,1]", "B02:%x[-1,0]", "B"]
SECOND_ORDER = [*TEMPLATES, "T"]
FORMS = [("aggressive", "enforced"), ("balanced", "enforced"), ("balanced", "published")]
words = st.sampled_from(["the", "old", "man"])
tags = st.sampled_from(["D", "N"])


@st.composite
def streams(draw, max_sequences=10, max_length=4):
    lengths = draw(st.lists(st.integers(1, max_length), min_size=1, max_size=max_sequences))
    return [
        (
            draw(st.lists(st.tuples(words, tags), min_size=n, max_size=n)),
            draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)),
            draw(st.integers(1, 8)) / 4,
        )
        for n in lengths
    ]


def last_weights(bench):
    last = bench.learner.state()["weights"]
    return bench.named(last["node"][:, 0, 0], last["edge"][:, 0], last["triple"][:, 0])


def difference(one, two):
    return max((abs(one.get(key, 0.0) - two.get(key, 0.0)) for key in one.keys() | two.keys()), default=0.0)


def is_exact(weights):
    """Return whether sums of these weights are exact, so that ties are ties in any order."""
    return all((value * 2**20).is_integer() for value in weights.values())


def hangs_on_rounding(margins, rule):
    """Return whether γ would change if a margin changed a little: a tie, or just a violation."""
    gamma = naive_swvp.set_gamma(margins, **rule)
    for j, step in itertools.product(range(len(margins)), (-1e-9, 1e-9)):
        nudged = [s + step * (i == j) for i, s in enumerate(margins)]
        other = naive_swvp.set_gamma(nudged, **rule)
        if (gamma is None) != (other is None) or not np.allclose(gamma or 0, other or 0, rtol=0, atol=1e-4):
            return True
    return False


@pytest.mark.parametrize("substructures", SUBSTRUCTURES)
@pytest.mark.parametrize("gamma", WEIGHTINGS)
@pytest.mark.parametrize(("violations", "condition"), FORMS)
@settings(max_examples=12, deadline=None)
@given(stream=streams(), beta=st.sampled_from([0.5, 1.0, 5.0]), order=st.integers(1, 2))
def test_it_learns_as_the_algorithm_over_strings(
    substructures, gamma, violations, condition, stream, beta, order
):
    templates = [*KINDS, "T"] if order == 2 else KINDS
    chosen = {"substructures": substructures, "gamma": gamma, "beta": beta, "max_errors": 3}
    bench = make_bench(
        templates, learner=swvp(violations=violations, condition=condition, average="none", **chosen)
    )
    rule = {"aggressive": violations == "aggressive", "enforced": condition == "enforced"}
    rule |= {"strategy": gamma, "beta": beta}
    reference = naive_swvp.Swvp(substructures, 3, order, **rule)
    for rows, gold, weight in stream:
        positions = naive.template_features(templates, rows)
        exact, before = is_exact(reference.last), dict(reference.last)
        [guess] = bench.tagger.learn_many([from_rows(rows, gold, weight)])
        if guess:
            best = reference.score(positions, reference.best(positions, before), before)
            assert math.isclose(reference.score(positions, guess, before), best, abs_tol=1e-9)
        # Before any label is known, the prediction is the sequence's own first label everywhere.
        reference.learn(positions, gold, guess or [gold[0]] * len(gold), weight)
        if not exact and hangs_on_rounding(reference.margins, rule):
            return
        assert difference(last_weights(bench), reference.last) < 1e-12
        assert bench.learner.gauges()["swvp_backoffs"] == reference.backoffs


@pytest.mark.parametrize("average", ["none", "all", "exponential"])
@pytest.mark.parametrize(
    "templates", [TEMPLATES, [], SECOND_ORDER], ids=["templates", "ready-made", "second order"]
)
@pytest.mark.parametrize("cost", [0.0, 0.5])
def test_the_whole_as_substructure_is_the_perceptron_bit_for_bit(average, templates, cost):
    stream = make_stream(80, seed=3, ready_made=not templates)
    chosen = {"average": average, "half_life": 7.0, "cost": cost}
    of_collins = make_bench(templates, learner=perceptron(**chosen))
    whole = make_bench(templates, learner=swvp(substructures="whole", **chosen))
    for batch in cut(stream, [1, 5, 30]):
        assert whole.tagger.learn_many(batch) == of_collins.tagger.learn_many(batch)
    state, wanted = whole.learner.state(), of_collins.learner.state()
    # What each counts besides.
    assert state.pop("tallies")[0] > 0
    assert wanted.pop("steps") > 0
    assert differences(state, wanted) == []


def test_the_average_is_that_of_the_last_weights_after_each_sequence():
    stream = make_stream(40, seed=5)
    last, averaged = (make_bench(TEMPLATES, learner=swvp(beta=0.5, average=a)) for a in ("none", "all"))
    totals = {}
    for example in stream:
        last.tagger.learn_many([example])
        averaged.tagger.learn_many([example])
        for key, value in last.named(*last.learner.weights()).items():
            totals[key] = totals.get(key, 0.0) + value / len(stream)
    assert differences(last_weights(last), last_weights(averaged)) == []
    assert difference(averaged.named(*averaged.learner.weights()), totals) < 1e-12


def changes(stream, templates=TEMPLATES, **settings):
    """Return w · Δw of each sequence's update.

    All labels are known: the prediction is the best of known ones, and need not score more than a gold label
    that was not.
    """
    known = [f"L{y}" for y in range(6)]
    bench = make_bench(templates, learner=swvp(average="none", **settings), known=known)
    before = {}
    for example in stream:
        bench.tagger.learn_many([example])
        after = last_weights(bench)
        change = {key: after.get(key, 0.0) - before.get(key, 0.0) for key in after.keys() | before.keys()}
        yield sum(before.get(key, 0.0) * value for key, value in change.items()) / example.weight
        before = after


@pytest.mark.parametrize("substructures", SUBSTRUCTURES)
@pytest.mark.parametrize("gamma", WEIGHTINGS)
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    beta=st.sampled_from([0.5, 1.0, 5.0]),
    templates=st.sampled_from([TEMPLATES, SECOND_ORDER]),
)
def test_every_update_meets_condition_2(substructures, gamma, seed, beta, templates):
    stream = make_stream(25, seed=seed)
    for violations in ("aggressive", "balanced"):
        chosen = {"substructures": substructures, "gamma": gamma, "beta": beta, "violations": violations}
        assert max(changes(stream, templates, **chosen)) <= 1e-9


def test_the_balanced_form_as_published_does_not():
    chosen = {"substructures": "single", "violations": "balanced", "condition": "published"}
    assert max(changes(make_stream(60), **chosen)) > 0.1


@pytest.mark.parametrize("templates", [TEMPLATES, SECOND_ORDER], ids=["first order", "second order"])
def test_every_block_is_a_violation_and_only_ignorance_makes_it_back_off(templates):
    known = [f"L{y}" for y in range(6)]
    bench = make_bench(templates, learner=swvp(substructures="blocks", beta=0.0), known=known)
    for seed in range(10):
        bench.tagger.learn_many(make_stream(60, seed=seed))
    gauges = bench.learner.gauges()
    # The first sequence found all weights 0.
    assert gauges["swvp_backoffs"] == 1
    assert gauges["violations/violating"] > 500
    assert gauges["violations/non_violating"] == 0


def test_what_happened_is_counted():
    bench = make_bench(["U00:%x[0,w]", "B"], learner=swvp(substructures="single", average="none"))

    def learn(words, labels):
        [guess] = bench.tagger.learn_many([from_rows([(w, "") for w in words], labels)])
        return guess and "".join(guess), [
            bench.learner.gauges()[name]
            for name in (
                "violations/violating", "violations/non_violating", "swvp_backoffs", "swvp_violating_gamma",
            )
        ]  # fmt: skip

    # All weights are 0: one substructure, a violation, which says nothing; back off.
    assert learn("ab", ["O", "X"]) == (None, [1, 0, 1, 1])
    # b was X then, after an O; so that X is right after it. The weights are those of the perceptron.
    assert learn("ab", ["O", "X"]) == ("OX", [1, 0, 1, 1])
    # Of the guess O X, O alone before the gold O scores less than gold: no violation.
    guess, counts = learn("ab", ["X", "O"])
    assert guess == "OX"
    assert sum(counts[:2]) == 3
    assert counts[3] == 2


def test_one_position_or_no_weights_is_the_perceptrons_update():
    for settings_ in itertools.product(SUBSTRUCTURES, WEIGHTINGS, FORMS):
        substructures, gamma, (violations, condition) = settings_
        chosen = {"substructures": substructures, "gamma": gamma, "violations": violations}
        benches = [
            make_bench(TEMPLATES, learner=made)
            for made in (swvp(condition=condition, **chosen), perceptron())
        ]
        first, *others = make_stream(30, seed=1)
        short = [from_rows([(x.columns["w"][0], x.columns["pos"][0])], [x.labels[0]]) for x in others]
        for bench in benches:
            bench.tagger.learn_many([first, *short])
        assert difference(*map(last_weights, benches)) == 0.0
