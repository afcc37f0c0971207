"""What is proved of separable data: mistakes are bounded, and training ends without an error."""

import itertools

import numpy as np
import pytest

from tests import naive
from tests.learners.build import from_rows, make, make_bench, pa, perceptron

LABELS = ["O", "B-X", "I-X"]
TEMPLATES = ["U:%x[0,0]", "B"]
MARGIN = 0.1


@pytest.fixture(scope="module")
def separable():
    """Draw a unit separator U and sequences that it labels with a margin; return them, R² and δ."""
    rng, chain = np.random.default_rng(4), naive.Chain()
    keys = [("U:" + f"w{word}", label) for word in range(6) for label in LABELS]
    keys += [("B", *pair) for pair in itertools.product(LABELS, repeat=2)]
    drawn = rng.normal(size=len(keys))
    separator = dict(zip(keys, drawn / np.linalg.norm(drawn), strict=True))
    examples, radius, margin = [], 0.0, 1.0
    while len(examples) < 40:
        rows = [(f"w{word}", "p") for word in rng.integers(0, 6, int(rng.integers(1, 5)))]
        positions = naive.template_features(TEMPLATES, rows)
        paths = [list(path) for path in itertools.product(LABELS, repeat=len(rows))]
        gold = max(paths, key=lambda path: chain.score(positions, path, separator))
        # Of all prefixes, the whole among them: what updates of prefixes need.
        changes = [
            chain.difference(positions[:n], gold[:n], list(path))
            for n in range(1, len(rows) + 1)
            for path in itertools.product(LABELS, repeat=n)
            if list(path) != gold[:n]
        ]
        margins = [sum(separator[key] * value for key, value in change.items()) for change in changes]
        if min(margins) >= MARGIN:
            examples.append(from_rows(rows, gold))
            radius = max(radius, *(sum(v * v for v in change.values()) for change in changes))
            margin = min(margin, *margins)
    return examples, radius, margin


def passes_until_right(learner, examples, most=200):
    """Learn pass after pass until the last weights make no error; return the updates of all passes."""
    bench = make_bench(TEMPLATES, learner=learner, known=LABELS)
    batch, updates = bench.tagger.encode(examples).batch, 0
    for _ in range(most):
        outcome = bench.tagger.learn_batch(batch)
        updates += int(outcome.updated.sum())
        if (bench.tagger.predict_batch(batch) == batch.labels).all() and not outcome.updated.any():
            break
    return updates, bench.tagger.predict_many(examples) == [example.labels for example in examples]


def test_the_perceptron_makes_at_most_as_many_mistakes_as_theorem_1_of_collins_allows(separable):
    examples, radius, margin = separable

    last = perceptron(average="none")

    updates, is_right = passes_until_right(last, examples)
    assert is_right
    assert 0 < updates <= radius / margin**2


def test_a_margin_costs_the_perceptron_no_more_updates_than_its_proof_allows(separable):
    examples, radius, margin = separable
    cost = 0.5

    careful = perceptron(cost=cost, average="none")

    updates, is_right = passes_until_right(careful, examples)
    assert is_right
    # ‖w + Δφ‖² ≤ ‖w‖² + R² + 2 · cost · T where w · Δφ ≤ cost · T is what an update asks.
    assert 0 < updates <= (radius + 2 * cost * 4) / margin**2


@pytest.mark.parametrize("violation", ["max", "early"])
@pytest.mark.parametrize("beam", [1, 2])
def test_updates_of_violations_keep_the_bound_though_the_search_is_inexact(beam, violation, separable):
    examples, radius, margin = separable

    inexact = perceptron(beam=beam, violation=violation, average="none")

    updates, is_right = passes_until_right(inexact, examples)
    assert is_right
    assert 0 < updates <= radius / margin**2


@pytest.mark.parametrize(
    "learner",
    [
        pa(average="none"),
        pa(rival="max_loss", average="none"),
        make("arow"),
    ],
    ids=["pa", "pa of the largest loss", "arow"],
)
def test_learners_of_a_margin_end_without_an_error(learner, separable):
    examples, _, _ = separable
    assert passes_until_right(learner, examples, most=30)[1]
