import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.monitor.signals import LearnedBatch, Signals


def lesson(sequences, labels=3, seed=0):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 6, sequences))])
    n = int(starts[-1])
    gold, predicted = rng.integers(0, labels, n), rng.integers(0, labels, n)
    return LearnedBatch(starts, gold, predicted, rng.random(sequences), rng.integers(0, 9, sequences))


def part(whole, first, last):
    a, b = whole.starts[first], whole.starts[last]
    return LearnedBatch(
        whole.starts[first : last + 1] - a,
        whole.gold[a:b],
        whole.predicted[a:b],
        whole.losses[first:last],
        whole.unknown[first:last],
    )


def test_each_quantum_gives_the_values_of_its_own_sequences():
    whole = lesson(14)
    values = Signals(quantum=7).add(whole)
    assert len(values) == 2
    second = part(whole, 7, 14)
    tokens = len(second.gold)
    assert values[1] == {
        "error": pytest.approx(7 * (second.gold != second.predicted).mean()),
        "loss": pytest.approx(7 * second.losses.sum() / tokens),
        "unknown": pytest.approx(7 * second.unknown.sum() / tokens),
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 40), max_size=8), st.data())
def test_batches_of_any_size_and_a_restart_give_the_same_bits(sizes, data):
    whole = lesson(200)
    edges = np.unique([0, *np.minimum(np.cumsum(sizes, dtype=int), 200), 200]).tolist()
    stop = data.draw(st.integers(0, len(edges) - 1))
    signals, values = Signals(quantum=7), []
    for number, (first, last) in enumerate(itertools.pairwise(edges)):
        if number == stop:
            resumed = Signals(quantum=7)
            resumed.restore(signals.state())
            signals = resumed
        values += signals.add(part(whole, first, last))
    assert values == Signals(quantum=7).add(whole)


def test_another_mix_of_labels_is_a_distance():
    def constant(y, sequences):
        gold = np.full(sequences, y)
        return LearnedBatch(np.arange(sequences + 1), gold, gold, np.zeros(sequences), np.zeros(sequences))

    signals = Signals(quantum=5)
    values = signals.add(constant(0, 5 * 21))
    assert ["labels" in each for each in values] == [False] * 20 + [True]
    assert values[-1]["labels"] == 0.0
    assert signals.add(constant(3, 5))[0]["labels"] == 5.0


def test_the_distance_is_of_shares_of_labels_to_those_before_which_fade():
    whole = lesson(5 * 30, labels=4)
    quanta = [np.bincount(part(whole, n, n + 5).gold, minlength=4) for n in range(0, 150, 5)]
    usual = sum(0.98**age * counts for age, counts in enumerate(reversed(quanta[:-1])))
    expected = 5 * 0.5 * np.abs(quanta[-1] / quanta[-1].sum() - usual / usual.sum()).sum()
    assert Signals(quantum=5).add(whole)[-1]["labels"] == pytest.approx(expected)


def test_a_state_with_a_row_for_each_open_sequence_is_continued():
    whole = lesson(10)
    first = part(whole, 0, 3)
    wrong = np.add.reduceat(first.gold != first.predicted, first.starts[:-1], dtype=int)
    rows = np.column_stack([wrong, np.diff(first.starts), first.losses, first.unknown]).astype(float)
    signals = Signals(quantum=7)
    signals.restore({"open": rows, "labels": np.bincount(first.gold), "usual": np.zeros(0), "quanta": 0})
    assert signals.add(part(whole, 3, 10)) == Signals(quantum=7).add(whole)
