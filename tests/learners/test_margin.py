"""Passive-aggressive and AROW against their papers, restated over dictionaries."""

import math

import numpy as np
import pytest

from streamlearn.data import Example
from tests import naive
from tests.learners.build import from_rows, make, make_bench, pa

LABELS = ["O", "B-X", "I-X"]
TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[1,1]", "*01:%x[0,1]", "B02:%x[0,0]", "B"]
FADING = {"average": "exponential", "half_life": 3.0}
WORST = {"rival": "max_loss"}
PA, AROW = ("pa", naive.PassiveAggressive), ("arow", naive.Arow)
LEARNERS = {
    "pa": (*PA, {"aggressiveness": 0.2, "average": "all"}),
    "pa, fading": (*PA, {"aggressiveness": 0.2} | FADING),
    "pa of the largest loss": (*PA, {"aggressiveness": 0.2, "average": "all"} | WORST),
    "pa of the largest loss, bold": (*PA, {"aggressiveness": 1e6, "average": "none"} | WORST),
    "arow": (*AROW, {"regularization": 1.0, "average": "all"}),
    "arow, fading": (*AROW, {"regularization": 0.3} | FADING),
    "arow, cautious": (*AROW, {"regularization": 7.0, "average": "none"}),
}


def columns(rng, n):
    """Draw words that come again in a sequence, so that features fire at several positions."""
    rows = [(f"w{rng.integers(0, 3)}", f"p{rng.integers(0, 2)}") for _ in range(n)]
    return from_rows(rows), naive.template_features(TEMPLATES, rows)


def triples(rng, n):
    x, _ = columns(rng, n)
    rows = list(zip(x.columns["w"], x.columns["pos"], strict=True))
    return x, naive.template_features([*TEMPLATES, "T"], rows)


def real_values(rng, n):
    positions = [{name: float(rng.normal()) for name in "abc"} | {"bias": 1.0} for _ in range(n)]
    return Example({}, None, positions), naive.ready_made_features(positions)


def make_stream(draw, seed, sequences=25):
    # Labels and importance are drawn so that no two wrong labellings are equally bad but for rounding.
    rng = np.random.default_rng(seed)
    for _ in range(sequences):
        n = int(rng.integers(1, 5))
        x, features = draw(rng, n)
        labels = [LABELS[y] for y in rng.integers(0, 3, n)]
        yield Example(x.columns, labels, x.features, weight=float(rng.uniform(0.3, 3.0))), features


def assert_same(got, wanted):
    for key in got.keys() | wanted.keys():
        assert math.isclose(got.get(key, 0.0), wanted.get(key, 0.0), rel_tol=0, abs_tol=1e-10), key


@pytest.mark.parametrize("draw", [columns, triples, real_values])
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_weights_follow_the_paper_sequence_by_sequence(draw, name, seed):
    kind, plain, options = LEARNERS[name]
    templates = {columns: TEMPLATES, triples: [*TEMPLATES, "T"], real_values: []}[draw]
    bench = make_bench(templates, learner=make(kind, **options))
    plain_options = {key: value for key, value in options.items() if key != "rival"}
    is_augmented = kind == "arow" or "rival" in options
    reference = plain(cost=1.0, is_augmented=is_augmented, **plain_options)
    for example, positions in make_stream(draw, seed):
        bench.tagger.learn_many([example])
        reference.learn(positions, example.labels, example.weight)
        last = bench.learner.state()["weights"]
        assert_same(
            bench.named(last["node"][:, 0, 0], last["edge"][:, 0], last["triple"][:, 0]), reference.last
        )
        assert_same(bench.named(*bench.learner.weights()), reference.weights())
    norm = math.sqrt(sum(value * value for value in reference.last.values()))
    assert math.isclose(bench.learner.gauges()["last_weights_norm"], norm, rel_tol=1e-9)


def learned(learner, example, known, times=1):
    """Learn one sequence `times` times; return the losses, and the bench."""
    bench = make_bench(["U:%x[0,0]", "B"], learner=learner, known=known)
    outcome = bench.tagger.learn_batch(bench.tagger.encode([example] * times).batch)
    return outcome.losses, bench


def test_a_bold_update_meets_the_margin_exactly():
    bold = pa(aggressiveness=1e6, average="none", rival="max_loss")

    rows, labels = [("a", "x"), ("a", "x"), ("b", "x")], ["B-X", "B-X", "O"]
    losses, bench = learned(bold, from_rows(rows, labels), LABELS, times=40)
    assert losses[0] == 2.0
    assert losses[-1] < 1e-9
    assert bench.tagger.predict_one(from_rows(rows)) == labels


def test_importance_is_how_often_a_sequence_is_there():
    timid = pa(aggressiveness=0.01, average="none", rival="max_loss")

    # Far from the margin, with one labelling to move away from, every update is by C.
    rows, known = [("a", "x")], ["O", "B-X"]
    _, once = learned(timid, from_rows(rows, ["B-X"], weight=2.0), known)
    _, twice = learned(timid, from_rows(rows, ["B-X"]), known, times=2)
    assert once.learner.weights()[0].any()
    for one, two in zip(once.learner.weights()[:3], twice.learner.weights()[:3], strict=True):
        assert np.array_equal(one, two)
