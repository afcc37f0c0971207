"""Probabilities and alternatives of predictions, and what a constraint changes, for every learner."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.learners.constraint import Constraint
from streamlearn.learners.tagger import Tagger
from tests import naive
from tests.learners import build
from tests.learners.build import from_rows, make_bench
from tests.states import differences

TEMPLATES = ["U00:%x[0,0]", "*01:%x[0,1]", "B02:%x[-1,0]", "B"]
SECOND_ORDER = [*TEMPLATES, "T"]

LEARNERS = {
    "averaged perceptron": (build.averaged_perceptron, TEMPLATES),
    "last perceptron": (build.last_perceptron, TEMPLATES),
    "perceptron that looks again": (build.replaying(build.averaged_perceptron), TEMPLATES),
    "adf": (build.adf, TEMPLATES),
    "averaged adf": (build.adf_with_growing_windows, TEMPLATES),
    "exponentially averaged adf": (build.adf_with_fading_average, TEMPLATES),
    "sgd": (build.sgd, TEMPLATES),
    "adagrad": (build.adagrad, TEMPLATES),
    "averaged perceptron of second order": (build.averaged_perceptron, SECOND_ORDER),
    "averaged adf of second order": (build.adf_with_growing_windows, SECOND_ORDER),
}
# No order of these is a scheme's own, so that much of what is learned is invalid.
LABELS = {"bio": ["I-X", "O", "B-X", "I-Y", "B-Y"], "iobes": ["B-X", "E-X", "O", "I-X", "S-X"]}

tokens = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"))


@st.composite
def streams(draw, labels, count=8, max_length=4):
    """Draw labelled sequences, valid or not."""
    lengths = draw(st.lists(st.integers(1, max_length), min_size=1, max_size=count))
    return [
        from_rows(
            draw(st.lists(tokens, min_size=n, max_size=n)),
            draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n)),
        )
        for n in lengths
    ]


@pytest.fixture(params=LEARNERS.values(), ids=LEARNERS, scope="module")
def make(request):
    """Make a bench whose tagger is constrained."""

    def made(scheme):
        learner, templates = request.param
        bench = make_bench(templates, learner=learner)
        return bench, Tagger(bench.encoder, bench.labels, bench.space, bench.learner, Constraint(scheme))

    return made


def scorer(bench, example):
    """Return the score of a labelling by number, over dictionaries of strings."""
    rows = list(zip(example.columns["w"], example.columns["pos"], strict=True))
    features = naive.template_features(SECOND_ORDER, rows)
    weights = bench.named(*bench.learner.weights())
    reference = naive.StructuredPerceptron()
    return lambda path: reference.score(features, [bench.labels.names[y] for y in path], weights)


def explained(tagger, example, **wanted):
    return tagger.explain_batch(tagger.encode([example], learn=False).batch, **wanted)[0]


@pytest.mark.parametrize("scheme", LABELS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_what_is_predicted_is_the_best_of_what_is_valid(make, scheme, data):
    stream = data.draw(streams(LABELS[scheme]))
    bench, tagger = make(scheme)
    tagger.learn_many(stream)
    names = bench.labels.names
    for example in stream:
        every = list(itertools.product(range(len(names)), repeat=len(example)))
        valid = [path for path in every if naive.is_valid([names[y] for y in path], scheme)]
        if not valid:
            assert explained(tagger, example) is None
            assert tagger.predict_one(example) is None
            continue
        score = scorer(bench, example)
        scores = sorted((score(path) for path in valid), reverse=True)
        found = explained(tagger, example, marginals="all" if tagger.is_probabilistic else "none", k_best=5)
        assert found.labels == found.alternatives[0].labels == tagger.predict_one(example)
        assert tuple(names.index(label) for label in found.labels) in valid
        got = [[names.index(label) for label in one.labels] for one in found.alternatives]
        assert len({*map(tuple, got)}) == len(got) == min(5, len(valid))
        assert {*map(tuple, got)} <= set(valid)
        # Sums are rounded differently: of equally good ones any may come first.
        for one, path, wanted in zip(found.alternatives, got, scores, strict=False):
            assert one.score == pytest.approx(wanted, abs=1e-9)
            assert score(path) == pytest.approx(wanted, abs=1e-9)
        if tagger.is_probabilistic:
            assert_probable(found, names, {path: math.exp(score(path)) for path in valid})


def assert_probable(found, names, weights):
    z = sum(weights.values())
    best = [names.index(label) for label in found.labels]
    assert found.probability == pytest.approx(weights[tuple(best)] / z)
    for t, y in enumerate(best):
        wanted = sum(weight for path, weight in weights.items() if path[t] == y) / z
        assert found.marginals[t] == pytest.approx(wanted)
    for one in found.alternatives:
        path = tuple(names.index(label) for label in one.labels)
        assert one.probability == pytest.approx(weights[path] / z)


@pytest.mark.parametrize("scheme", LABELS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_constraint_holds_for_what_is_said_while_learning_and_changes_no_weight(make, scheme, data):
    stream = data.draw(streams(LABELS[scheme], count=12))
    (_, free), (_, bound) = make("none"), make(scheme)
    for example in stream:
        said = bound.predict_one(example) if bound.labels else None
        assert bound.learn_many([example]) == [said]
        free.learn_many([example])
    assert differences(free.state(), bound.state()) == []
    (_, free), (_, bound) = make("none"), make(scheme)
    # In one batch labels appear while it is learned.
    free.learn_many(stream)
    bound.learn_many(stream)
    assert differences(free.state(), bound.state()) == []


@pytest.mark.parametrize("scheme", LABELS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_nothing_invalid_is_ever_predicted_once_something_valid_can_be(make, scheme, data):
    long = st.lists(tokens, min_size=1, max_size=30)
    _, tagger = make(scheme)
    # O alone makes every length possible.
    tagger.learn_one(from_rows([("a", "x")]), ["O"])
    for example, said in zip(*learned(tagger, data.draw(streams(LABELS[scheme]))), strict=True):
        assert naive.is_valid(said, scheme), example
    for rows in data.draw(st.lists(long, min_size=1, max_size=3)):
        for one in explained(tagger, from_rows(rows), k_best=16).alternatives:
            assert naive.is_valid(one.labels, scheme)


def learned(tagger, stream):
    return stream, tagger.learn_many(stream)


def test_what_is_not_asked_is_not_told(make):
    _, tagger = make("none")
    example = from_rows([("a", "x")], ["O"])
    tagger.learn_many([example])
    plain = explained(tagger, example)
    assert (plain.labels, plain.marginals, plain.probability, plain.alternatives) == (["O"], None, None, None)
    [alternative] = explained(tagger, example, k_best=3).alternatives
    assert alternative.labels == ["O"]
    assert alternative.probability == (1.0 if tagger.is_probabilistic else None)
