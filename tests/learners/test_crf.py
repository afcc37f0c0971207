"""Lazy learners of CRFs against dense ones that visit every weight after every sequence."""

import functools
import math

import numpy as np
import pytest

from streamlearn.data import Example
from tests import naive, naive_crf
from tests.learners.build import from_rows, make, make_bench
from tests.learners.streams import cut
from tests.states import differences

PAIRS = ["*00:%x[0,w]", "*01:%x[-1,pos]", "U02:%x[0,pos]", "B03:%x[0,pos]", "B"]
TRIPLES = ["U00:%x[0,w]", "*01:%x[-1,pos]", "B", "T"]
SINGLES = ["U00:%x[0,w]", "U01:%x[-1,w]/%x[0,pos]", "B"]
# A word is in the bag once for each position near which it occurs.
BAG = ["U:%x[-1,w]", "U:%x[0,w]", "U:%x[1,w]"]

ADF = {"rate": 0.3, "window": 3, "sigma": 2.0}
FADING = {"average": "exponential", "half_life": 4.0}
CASES = {
    "published": ("adf", naive_crf.Adf, ADF, PAIRS),
    "single labels": ("adf", naive_crf.Adf, ADF, SINGLES),
    "a feature several times in a sequence": ("adf", naive_crf.Adf, ADF, BAG),
    "ready-made, real values": ("adf", naive_crf.Adf, ADF, None),
    "window of one sequence": ("adf", naive_crf.Adf, ADF | {"window": 1}, SINGLES),
    "growing windows": ("adf", naive_crf.Adf, ADF | {"growth": 1.5}, PAIRS),
    "windows doubled": ("adf", naive_crf.Adf, ADF | {"growth": 2.0, "window": 1, "average": "all"}, PAIRS),
    "floor": ("adf", naive_crf.Adf, ADF | {"min_rate": 0.15, "late_start": True, "keep_rare": 0.8}, PAIRS),
    "late start": ("adf", naive_crf.Adf, ADF | {"late_start": True, "keep_rare": 0.8}, PAIRS),
    "no L2": ("adf", naive_crf.Adf, ADF | {"sigma": None, "average": "all"}, PAIRS),
    "strong L2": ("adf", naive_crf.Adf, ADF | {"sigma": 0.5, "average": "all"}, PAIRS),
    "strong L2, fading": ("adf", naive_crf.Adf, ADF | {"sigma": 0.5} | FADING, PAIRS),
    "average of all": ("adf", naive_crf.Adf, ADF | {"average": "all"}, PAIRS),
    "fading average": ("adf", naive_crf.Adf, ADF | FADING, PAIRS),
    "fading average of real values": ("adf", naive_crf.Adf, ADF | FADING, None),
    "fading average without L2": ("adf", naive_crf.Adf, ADF | FADING | {"sigma": None}, SINGLES),
    "fading average, growing windows": ("adf", naive_crf.Adf, ADF | FADING | {"growth": 1.5}, BAG),
    "triples": ("adf", naive_crf.Adf, ADF, TRIPLES),
    "triples, strong L2, fading": ("adf", naive_crf.Adf, ADF | {"sigma": 0.5} | FADING, TRIPLES),
    "triples, growing windows, average of all": (
        "adf",
        naive_crf.Adf,
        ADF | {"growth": 1.5, "average": "all"},
        ["U00:%x[0,w]", "T"],
    ),
    "SGD": ("sgd", naive_crf.Sgd, {"rate": 0.3, "decay": 0.8, "per": 3, "sigma": 2.0}, PAIRS),
    "SGD with a floor": ("sgd", naive_crf.Sgd, {"rate": 0.3, "decay": 0.8, "per": 2, "min_rate": 0.1}, BAG),
    "SGD, average of all": (
        "sgd",
        naive_crf.Sgd,
        {"rate": 0.3, "decay": 0.8, "per": 3, "average": "all"},
        SINGLES,
    ),
    "SGD, fading average": ("sgd", naive_crf.Sgd, {"rate": 0.3, "decay": 0.8, "per": 3} | FADING, None),
    "AdaGrad": ("adagrad", naive_crf.AdaGrad, {"rate": 0.3, "sigma": 1.0, "floor": 0.01}, PAIRS),
    "AdaGrad without L2": ("adagrad", naive_crf.AdaGrad, {"rate": 0.3, "sigma": None}, SINGLES),
    "AdaGrad, strong L2, no floor": ("adagrad", naive_crf.AdaGrad, {"rate": 0.3, "sigma": 0.1}, BAG),
    "AdaGrad of triples": ("adagrad", naive_crf.AdaGrad, {"rate": 0.3, "sigma": 1.0}, TRIPLES),
    "AdaGrad of real values": ("adagrad", naive_crf.AdaGrad, {"rate": 0.3, "sigma": 2.0}, None),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
some_cases = pytest.mark.parametrize(
    "case",
    [
        CASES[name]
        for name in ("growing windows", "triples, strong L2, fading", "windows doubled", "AdaGrad of triples")
    ],
    ids=lambda case: case[0],
)


@functools.cache
def stream(ready_made, count=50):
    """Draw sequences; labels appear late, some words are frequent, some never return or only at the end."""
    rng = np.random.default_rng(7)
    found = []
    for number in range(count):
        length = int(rng.integers(1, 4))
        words = [f"w{min(w, 30)}" for w in rng.zipf(1.4, length)]
        if number in (2, count - 2):
            words[0] = "long unseen"
        labels = [f"L{y}" for y in rng.integers(0, 1 + (number > 3) + (number > 20), length)]
        weight = float(rng.integers(1, 5)) / 2
        if ready_made:
            features = [{word: float(rng.normal()), f"p{len(word)}": 1.0} for word in words]
            found.append(Example({}, labels, features, weight=weight))
        else:
            found.append(from_rows([(word, f"p{len(word)}") for word in words], labels, weight))
    return found


def prepare(case, **options):
    kind, reference, settings, templates = case
    if kind != "adagrad":
        # The configuration's rates never fall to 0, those of the papers do.
        settings = {"min_rate": 0.0} | settings
    bench = make_bench(templates or [], learner=make(kind, **settings), **options)
    room = {"room": options["room"]} if "room" in options else {}
    return bench, reference(**settings, **room), stream(templates is None)


def features_of(case, example):
    templates = case[3]
    if templates is None:
        return naive.ready_made_features(example.features)
    expanded = [line.replace("w]", "0]").replace("pos]", "1]") for line in templates]
    rows = list(zip(example.columns["w"], example.columns["pos"], strict=True))
    return naive.template_features(expanded, rows)


def assert_same_weights(bench, reference):
    wanted, got = reference.weights(), bench.named(*bench.learner.weights())
    assert got.keys() <= wanted.keys()
    scale = max(map(abs, wanted.values()), default=0.0)
    found = [got.get(key, 0.0) for key in wanted]
    assert np.allclose(found, list(wanted.values()), rtol=1e-12, atol=1e-12 * scale)


def assert_as_good(reference, positions, predicted, known):
    """Weights are rounded differently: equally good is what can be asked for."""
    weights = reference.weights()
    scores = [
        reference.score(positions, path, weights) for path in (predicted, reference.best(positions, weights))
    ]
    assert math.isclose(*scores, rel_tol=1e-9, abs_tol=1e-9)
    assert set(predicted) <= set(known)


@every_case
def test_lazy_is_dense(case):
    bench, reference, examples = prepare(case)
    loss = 0.0
    for example in examples:
        positions = features_of(case, example)
        batch = bench.tagger.encode([example]).batch
        if reference.labels:
            assert_as_good(reference, positions, bench.tagger.predict_one(example), reference.labels)
        outcome = bench.tagger.learn_batch(batch)
        loss += outcome.losses.sum()
        if reference.labels:
            said = [bench.tagger.labels[y] for y in outcome.predicted]
            assert_as_good(reference, positions, said, reference.labels)
        reference.learn(positions, example.labels, example.weight)
        assert_same_weights(bench, reference)
    assert math.isclose(loss, reference.loss, rel_tol=1e-12)


@some_cases
def test_one_batch_is_dense_too(case):
    bench, reference, examples = prepare(case)
    bench.tagger.learn_many(examples)
    for example in examples:
        reference.learn(features_of(case, example), example.labels, example.weight)
    assert_same_weights(bench, reference)


@some_cases
@pytest.mark.parametrize("room", [(1, 1), (4, 6)])
def test_features_that_found_the_table_full_do_not_exist(case, room):
    bench, reference, examples = prepare(case, room=room)
    for example in examples:
        bench.tagger.learn_many([example])
        reference.learn(features_of(case, example), example.labels, example.weight)
    assert_same_weights(bench, reference)


@some_cases
def test_any_cut_and_any_interruption_give_the_same_bits(case):
    (whole, _, examples), (parts, _, _), (resumed, _, _) = prepare(case), prepare(case), prepare(case)
    said = whole.tagger.learn_many(examples)
    found = []
    for batch in cut(examples, [1, 2, 3, 13, 1, 1, 9]):
        resumed.tagger.learn_many(examples[:5])  # What it knew before is gone when it is restored.
        resumed.tagger.restore(parts.tagger.state())
        found += parts.tagger.learn_many(batch)
        resumed.tagger.learn_many(batch)
        assert differences(parts.tagger.state()["learner"], resumed.tagger.state()["learner"]) == []
    assert found == said
    assert differences(parts.tagger.state()["learner"], whole.tagger.state()["learner"]) == []


@pytest.mark.parametrize(
    "name",
    [
        "published",
        "late start",
        "floor",
        "strong L2, fading",
        "windows doubled",
        "fading average, growing windows",
        "triples, growing windows, average of all",
    ],
)
def test_rates_that_are_warmed_up_again_are_those_of_the_start_in_any_moment(name):
    case = CASES[name]
    for moment in (9, 10, 11, 31):
        bench, reference, examples = prepare(case)
        for number, example in enumerate(examples):
            if number == moment:
                bench.learner.rewarm()
                reference.rewarm()
                assert_same_weights(bench, reference)
                state = bench.tagger.state()
                bench.tagger.restore(state)
            bench.tagger.learn_many([example])
            reference.learn(features_of(case, example), example.labels, example.weight)
        assert_same_weights(bench, reference)


def test_a_rate_that_has_fallen_to_nothing_does_not_return():
    settings = {"rate": 0.3, "window": 1, "keep_rare": 1e-9, "keep_frequent": 1e-9, "sigma": None}
    bench, _, _ = prepare(("adf", naive_crf.Adf, settings, SINGLES))
    example = from_rows([("a", "x"), ("b", "x")], ["A", "B"])
    bench.tagger.learn_many([example] * 60)
    state = bench.tagger.state()["learner"]["weights"]
    bench.tagger.learn_many([example] * 60)
    assert differences(state, bench.tagger.state()["learner"]["weights"]) == []


def test_learning_the_same_example_again_and_again_makes_it_certain():
    for learner in ("adf", "sgd", "adagrad"):
        bench, _, _ = prepare((learner, naive_crf.Adf, {}, SINGLES))
        batch = bench.tagger.encode([from_rows([("a", "x"), ("b", "x")], ["A", "B"])] * 200).batch
        first = bench.tagger.learn_batch(batch)
        assert bench.tagger.learn_batch(batch).losses.sum() < 0.5 * first.losses.sum()
        assert first.updated.sum() == 200
