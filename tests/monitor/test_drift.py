import itertools

import numpy as np
import pytest

from streamlearn.checkpoint import codec
from streamlearn.monitor.drift import REMEDY_STRIDE, DriftWatch
from streamlearn.monitor.signals import LearnedBatch


def lesson(first, sequences, change=3000):
    """Return one-token sequences of which one in ten is wrong, and after the change two in three."""
    numbers = np.arange(first, first + sequences)
    draws = np.random.default_rng(0).random(20_000)[numbers]
    wrong = draws < np.where(numbers < change, 0.1, 2 / 3)
    gold = np.zeros(sequences, int)
    return LearnedBatch(np.arange(sequences + 1), gold, wrong.astype(int), wrong.astype(float), gold)


def run(watch, total, size, first=0):
    """Feed lessons of `size` sequences, each cut as the watch wants; give what it tells."""
    drifts = []
    for begin in range(first, total, size):
        end = min(begin + size, total)
        edges = [0, *watch.stops(end - begin), end - begin]
        for a, b in itertools.pairwise(edges):
            drifts += watch.update(lesson(begin + a, b - a))
    return drifts


def make(remedies=(), detectors=("adwin",)):
    return DriftWatch(detectors, ("error", "loss"), 20, ("snapshot",), remedies)


def test_a_change_is_told_with_its_place_and_size():
    drifts = run(make(), 5000, 777)
    assert [(drift.signal, drift.detector, drift.actions) for drift in drifts] == [
        ("error", "adwin", ("snapshot",)),
        ("loss", "adwin", ("snapshot",)),
    ]
    assert 3000 <= drifts[0].sequence <= 3200
    assert drifts[0].before == pytest.approx(0.1, abs=0.05)
    assert drifts[0].after == pytest.approx(2 / 3, abs=0.2)


@pytest.mark.parametrize("size", [1, 20, 333, 500, 4999])
def test_batches_of_any_size_decide_the_same_and_act_at_the_same_place(size):
    places = []
    watch = make([lambda: places.append(watch.state()["sequences"])])
    assert run(watch, 5000, size) == run(make(), 5000, 5000)
    [place] = places
    assert 3000 < place < 4000
    assert place % REMEDY_STRIDE == 0


@pytest.mark.parametrize("saved_at", [0, 990, 3030, 3100, 3490, 4000])
def test_a_restart_changes_neither_decisions_nor_deeds(saved_at):
    deeds, expected = [], []
    whole = make([lambda: expected.append(whole.state()["sequences"])], ("adwin", "kswin"))
    drifts = run(whole, 5000, 110)
    first = make([lambda: deeds.append(first.state()["sequences"])], ("adwin", "kswin"))
    before = run(first, saved_at, 110)
    saved = codec.decode(b"".join(codec.encode(first.state())))
    resumed = make([lambda: deeds.append(resumed.state()["sequences"])], ("adwin", "kswin"))
    resumed.restore(saved, saved_at)
    assert before + run(resumed, 5000, 110, saved_at) == drifts
    assert deeds == expected


def test_without_remedies_no_batch_is_cut():
    assert make().stops(5000) == []
    assert make([print]).stops(1200) == [500, 1000]


def test_a_state_of_another_kind_is_begun_anew_where_the_stream_is():
    watch = make([print])
    watch.restore({}, 1234)
    assert watch.state()["sequences"] == 1234
    assert watch.stops(500) == [266]


def test_nothing_watched_costs_and_tells_nothing():
    watch = DriftWatch()
    assert run(watch, 5000, 5000) == []
    assert watch.scores() == {}
