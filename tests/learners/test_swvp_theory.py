"""Theorem 1 of Dror & Reichart 2016 on data with a known separator."""

import itertools
import math
from collections import defaultdict

import pytest

from streamlearn.learners.swvp import SUBSTRUCTURES, WEIGHTINGS
from tests import naive, naive_swvp
from tests.learners.build import from_rows, make_bench, perceptron, swvp

TEMPLATES = ["U00:%x[0,0]", "B"]
LABELS = ["O", "B-X", "I-X"]
LENGTH = 3
# The planted separator: what a word says, and what may follow what.
PLANTED = {
    ("U00:a", "O"): 3.0,
    ("U00:b", "B-X"): 3.0,
    ("U00:c", "I-X"): 3.0,
    ("U00:d", "O"): 1.0,
    ("U00:d", "B-X"): 1.0,
    ("B", "O", "B-X"): 2.0,
    ("B", "B-X", "I-X"): 2.0,
    ("B", "I-X", "O"): 2.0,
}
LEAST = 1.0


class Planted(naive.Chain):
    """Sequences that the planted weights label with a margin, and what the theorem says of them."""

    def __init__(self):
        super().__init__()
        self.labels = LABELS
        self._size = math.sqrt(sum(value * value for value in PLANTED.values()))
        self.data = list(self._separable())

    def _separable(self):
        for words in itertools.product("abcd", repeat=LENGTH):
            rows = [(word, "") for word in words]
            positions = naive.template_features(TEMPLATES, rows)
            ranked = sorted(
                itertools.product(LABELS, repeat=LENGTH),
                key=lambda path: -self.score(positions, path, PLANTED),
            )
            best, second = (self.score(positions, path, PLANTED) for path in ranked[:2])
            if best - second >= LEAST:
                yield rows, list(ranked[0]), positions

    def bound(self, jj):
        """Return (R_JJ / δ_JJ)² over all predictions z and their mixed assignments; (whole is R² / δ²)."""
        margins, radii = [], []
        for _, gold, positions in self.data:
            differences = {}
            for z in itertools.product(LABELS, repeat=LENGTH):
                for m in naive_swvp.mixed_assignments(jj, gold, z):
                    if m not in differences:
                        differences[m] = self._difference(positions, gold, m)
            margins += [
                sum(PLANTED.get(key, 0.0) * value for key, value in each.items()) / self._size
                for each in differences.values()
            ]
            radii += [math.sqrt(sum(v * v for v in each.values())) for each in differences.values()]
        return (max(radii) / min(margins)) ** 2

    def _difference(self, positions, gold, m):
        change = defaultdict(float)
        for path, sign in ((gold, 1.0), (m, -1.0)):
            for key, value in self._phi(positions, path):
                change[key] += sign * value
        return change


PLANT = Planted()
BOUNDS = {jj: PLANT.bound(jj) for jj in SUBSTRUCTURES}


def updates_until_it_errs_no_more(learner):
    """Go through the data until nothing is updated; return the updates, for each of which γ sums to 1."""
    bench = make_bench(TEMPLATES, learner=learner, known=LABELS)
    batch = bench.tagger.encode([from_rows(rows, gold) for rows, gold, _ in PLANT.data]).batch
    total = 0
    while updates := int(bench.tagger.learn_batch(batch).updated.sum()):
        total += updates
        assert total <= max(BOUNDS.values()), "it does not converge"
    predicted = bench.tagger.predict_batch(batch)
    assert (predicted == batch.labels).all()
    return total, bench.learner.gauges()


def test_the_data_are_many_and_the_bounds_are_ordered_as_in_observation_1():
    assert len(PLANT.data) > 30
    assert all(BOUNDS[jj] <= BOUNDS["whole"] for jj in BOUNDS)
    assert BOUNDS["single"] < BOUNDS["whole"]


def test_the_perceptron_converges_within_its_bound():
    updates, _ = updates_until_it_errs_no_more(perceptron(average="none"))
    assert 0 < updates <= BOUNDS["whole"]


@pytest.mark.parametrize("substructures", SUBSTRUCTURES)
@pytest.mark.parametrize("gamma", WEIGHTINGS)
@pytest.mark.parametrize("violations", ["aggressive", "balanced"])
def test_it_converges_within_its_bound(substructures, gamma, violations):
    updates, gauges = updates_until_it_errs_no_more(
        swvp(substructures=substructures, gamma=gamma, violations=violations, average="none")
    )
    # Where it backed off, a step is one of the perceptron's.
    bound = BOUNDS["whole" if gauges["swvp_backoffs"] else substructures]
    assert 0 < updates <= bound
