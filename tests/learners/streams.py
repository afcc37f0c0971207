"""Streams of labelled sequences with ever more distinct values and labels."""

import itertools

import numpy as np

from streamlearn.data import Example
from tests.learners.build import from_rows

TEMPLATES = ["U00:%x[0,w]", "U01:%x[-1,w.lower]/%x[0,pos]", "*02:%x[0,pos]", "B03:%x[1,w.suffix1]", "B"]


def make_stream(count, seed=0, ready_made=False, labels=6, words=40):
    """Draw sequences of columns, or of ready-made features, some of which have real values."""
    rng = np.random.default_rng(seed)
    return [_example(rng, number, count, ready_made, labels, words) for number in range(count)]


def _example(rng, number, count, ready_made, labels, words):
    length = int(rng.integers(1, 7))
    # Later sequences have labels and words that earlier ones do not have.
    grown = 1 + (number * labels) // (count + 1)
    gold = [f"L{y}" for y in rng.integers(0, grown, length)]
    drawn = [f"W{w}" for w in rng.integers(0, 1 + words * (number + 1) // count, length)]
    weight = float(rng.integers(1, 5)) / 3
    if not ready_made:
        rows = [(word, f"p{int(word[1:]) % 3}") for word in drawn]
        return from_rows(rows, gold, weight)
    if rng.random() < 0.5:
        return Example({}, gold, [[word, f"p{int(word[1:]) % 3}"] for word in drawn], weight=weight)
    return Example({}, gold, [{word: float(rng.normal()), "bias": 1.0} for word in drawn], weight=weight)


def cut(items, sizes):
    """Cut a list into lists of these sizes, the last one as large as need be."""
    edges = np.unique(np.clip([0, *np.cumsum(sizes), len(items)], 0, len(items)))
    return [items[a:b] for a, b in itertools.pairwise(edges)]
