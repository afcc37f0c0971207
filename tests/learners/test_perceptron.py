"""The whole way from examples to weights against Collins' figure 1 over dictionaries of strings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.data import Example
from streamlearn.errors import ConfigError
from tests import naive
from tests.learners.build import beam_perceptron, from_rows, make_bench, perceptron
from tests.states import differences

LABELS = ["O", "B-X", "I-X"]
words = st.sampled_from(["the", "old", "man", "_B-1", ""])
tags = st.sampled_from(["D", "N"])
# Weights stay multiples of 1/4, so that sums are exact and ties are ties whatever the order.
quarters = st.integers(1, 8).map(lambda n: n / 4)

TEMPLATES = {
    "single labels": ["U00:%x[0,0]", "U01:%x[-1,0]/%x[1,1]"],
    "single labels and transitions": ["U00:%x[0,0]", "U01:%x[-2,1]", "B"],
    "pairs": ["U00:%x[0,0]", "B01:%x[0,1]", "B02:%x[-1,0]/%x[0,0]", "B"],
    "both": ["*00:%x[0,0]", "*01:%x[1,1]", "B"],
    "triples": ["U00:%x[0,0]", "U01:%x[-1,1]", "B", "T"],
    "triples and no pairs": ["U00:%x[0,0]", "T"],
    "all kinds and triples": ["U00:%x[0,0]", "*01:%x[0,1]", "B02:%x[0,0]", "B", "T"],
    "all kinds": ["U00:%x[0,0]", "*01:%x[0,1]", "B02:%x[0,0]", "B", "U03", "*04"],
    "bag of words": ["U:%x[-1,0]", "U:%x[0,0]", "U:%x[1,0]", "B:%x[0,0]", "B:%x[-1,0]"],
}


@st.composite
def streams(draw, position, max_sequences=12, max_length=4):
    """Draw (positions, labels, importance) of some sequences."""
    lengths = draw(st.lists(st.integers(1, max_length), min_size=1, max_size=max_sequences))
    return [
        (
            draw(st.lists(position, min_size=n, max_size=n)),
            draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)),
            draw(quarters),
        )
        for n in lengths
    ]


def assert_same_weights(got, wanted):
    wanted = {key: value for key, value in wanted.items() if abs(value) > 1e-12}
    got = {key: value for key, value in got.items() if abs(value) > 1e-12}
    assert got.keys() == wanted.keys()
    assert np.allclose([got[key] for key in wanted], list(wanted.values()), rtol=0, atol=1e-12)


def assert_follows(bench, reference, examples, features):
    """Compare predictions, last weights and the weights of predictions after every sequence."""
    for example, positions in zip(examples, features, strict=True):
        before, known = reference.weights(), list(reference.labels)
        [predicted] = bench.tagger.learn_many([example])
        if not known:
            assert predicted is None
        else:
            best = reference.best(positions, before)
            # Averages are rounded differently: equally good is what can be asked for.
            scores = [reference.score(positions, path, before) for path in (predicted, best)]
            assert math.isclose(*scores, abs_tol=1e-9)
            assert set(predicted) <= set(known)
        reference.learn(positions, example.labels, example.weight)
        last = bench.learner.state()["weights"]
        named = bench.named(last["node"][:, 0, 0], last["edge"][:, 0], last["triple"][:, 0])
        assert named == {key: value for key, value in reference.last.items() if value}
        assert_same_weights(bench.named(*bench.learner.weights()), reference.weights())
    assert bench.labels.names == reference.labels
    norm = math.sqrt(sum(value * value for value in reference.last.values()))
    assert math.isclose(bench.learner.gauges()["last_weights_norm"], norm, abs_tol=1e-9)


AVERAGES = {
    "averaged": {"average": "all"},
    "last": {"average": "none"},
    "fading": {"average": "exponential", "half_life": 2.0},
    "fading within a sequence": {"average": "exponential", "half_life": 0.004},
}


@pytest.mark.parametrize("average", AVERAGES.values(), ids=AVERAGES)
@pytest.mark.parametrize("templates", TEMPLATES.values(), ids=TEMPLATES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_templates_are_learned_as_over_strings(templates, average, data):
    stream = data.draw(streams(st.tuples(words, tags)))
    bench = make_bench(templates, learner=perceptron(**average))
    reference = naive.StructuredPerceptron(**average)
    examples = [from_rows(rows, labels, weight) for rows, labels, weight in stream]
    features = [naive.template_features(templates, rows) for rows, _, _ in stream]
    assert_follows(bench, reference, examples, features)


NAMES = st.sampled_from(["a", "b", "c=d", "B", "U00:the"])


@pytest.mark.parametrize(
    "position",
    [
        st.lists(NAMES, max_size=4),
        st.dictionaries(NAMES, st.integers(-8, 8).map(lambda n: n / 4), max_size=4),
    ],
    ids=["names", "real values"],
)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_ready_made_features_are_learned_as_over_strings(position, data):
    stream = data.draw(streams(position))
    examples = [Example({}, labels, features, weight=weight) for features, labels, weight in stream]
    features = [naive.ready_made_features(positions) for positions, _, _ in stream]
    assert_follows(make_bench(), naive.StructuredPerceptron(average="all"), examples, features)


@settings(max_examples=25, deadline=None)
@given(stream=streams(st.tuples(words, tags)), room=st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_features_that_found_the_table_full_do_not_exist(stream, room):
    templates = ["U00:%x[0,0]", "U01:%x[1,0]", "*02:%x[0,0]", "B03:%x[0,1]", "B"]
    bench = make_bench(templates, room=room)
    examples = [from_rows(rows, labels, weight) for rows, labels, weight in stream]
    features = [naive.template_features(templates, rows) for rows, _, _ in stream]
    reference = naive.StructuredPerceptron(average="all", room=room)
    for example, positions in zip(examples, features, strict=True):
        bench.tagger.learn_many([example])
        reference.learn(positions, example.labels, example.weight)
    assert_same_weights(bench.named(*bench.learner.weights()), reference.weights())
    sizes = bench.space.sizes
    assert sizes[0] <= room[0]
    assert sizes[1] <= room[1] + 1


def test_the_loss_counts_wrong_positions_and_updates_count_sequences():
    bench = make_bench(["U00:%x[0,0]"])
    example = from_rows([("a", "x"), ("b", "x"), ("b", "x")], ["O", "B-X", "B-X"])
    batch = bench.tagger.encode([example, example]).batch
    outcome = bench.tagger.learn_batch(batch)
    # The first sequence was predicted as O O O; after one update the second is right.
    assert outcome.losses.tolist() == [2.0, 0.0]
    assert outcome.updated.tolist() == [True, False]
    assert outcome.predicted.tolist() == [-1, -1, -1, 0, 1, 1]


def test_predicting_before_anything_was_learned_is_refused():
    bench = make_bench(["U00:%x[0,0]"])
    with pytest.raises(ValueError, match="learn from a labelled sequence first"):
        bench.tagger.predict_one(from_rows([("a", "x")]))


def stream_of(labels, sequences=60):
    rng = np.random.default_rng(4)
    for _ in range(sequences):
        n = int(rng.integers(1, 6))
        rows = [(f"w{rng.integers(0, 5)}", f"p{rng.integers(0, 2)}") for _ in range(n)]
        yield from_rows(rows, [labels[y] for y in rng.integers(0, len(labels), n)])


def test_early_updates_with_a_beam_of_all_labels_are_those_of_the_perceptron():
    labels = [f"L{y}" for y in range(4)]
    one, two = (
        make_bench(TEMPLATES["all kinds"], learner=perceptron(**options), known=labels)
        for options in ({}, {"beam": 4, "violation": "early"})
    )
    examples = list(stream_of(labels))
    assert one.tagger.learn_many(examples) == two.tagger.learn_many(examples)
    assert differences(one.tagger.state(), two.tagger.state()) == []
    assert one.tagger.predict_many(examples) == two.tagger.predict_many(examples)


@pytest.mark.parametrize("violation", ["max", "early"])
def test_every_update_with_a_beam_is_one_of_a_violation(violation):
    labels = [f"L{y}" for y in range(4)]
    bench = make_bench(
        TEMPLATES["both"], learner=perceptron(beam=1, violation=violation, average="none"), known=labels
    )
    updates = 0
    for example in stream_of(labels):
        before = bench.named(*bench.learner.weights())
        bench.tagger.learn_many([example])
        after = bench.named(*bench.learner.weights())
        change = {key: after.get(key, 0.0) - before.get(key, 0.0) for key in before.keys() | after.keys()}
        assert sum(before.get(key, 0.0) * value for key, value in change.items()) <= 0.0
        updates += any(change.values())
    assert updates > 30


def test_predictions_are_made_with_the_beam_that_was_learned_with():
    # The second word determines the label of the first one: too late for a beam of one label.
    templates = ["U:%x[0,0]", "B"]
    bench = make_bench(templates, learner=perceptron(beam=1, average="none"), known=["A", "B", "C"])
    examples = [
        from_rows([("x", "p"), ("a", "p")], ["A", "B"]),
        from_rows([("x", "p"), ("c", "p")], ["B", "C"]),
    ]
    for _ in range(40):
        bench.tagger.learn_many(examples)
    exact = make_bench(templates, learner=perceptron(average="none"), known=["A", "B", "C"])
    for _ in range(40):
        exact.tagger.learn_many(examples)
    gold = [example.labels for example in examples]
    assert exact.tagger.predict_many(examples) == gold
    assert bench.tagger.predict_many(examples) != gold


def test_a_beam_and_triples_of_labels_are_refused():
    with pytest.raises(ConfigError, match="beam is 2 with the template T"):
        make_bench(["U00:%x[0,0]", "T"], learner=beam_perceptron)


@pytest.mark.parametrize("sizes", [[40], [1] * 40, [7, 33]])
def test_the_limit_of_the_margin_is_the_norm_by_the_number_of_updates(sizes):
    bench = make_bench(TEMPLATES["both"], learner=perceptron(average="none"))
    assert "margin_limit" not in bench.tagger.gauges()
    examples, updates = list(stream_of(["A", "B", "C"], 40)), 0
    for size in sizes:
        batch, examples = examples[:size], examples[size:]
        predicted = bench.tagger.learn_many(batch)
        updates += sum(path != example.labels for path, example in zip(predicted, batch, strict=True))
    gauges = bench.tagger.gauges()
    assert gauges["margin_limit"] == pytest.approx(gauges["last_weights_norm"] / updates)
    assert updates > 5
