import math

import numpy as np
import pytest

from streamlearn.checkpoint import codec
from streamlearn.events import Drift, Learned, Standing
from streamlearn.monitor.history import History
from tests.telemetry.examples import learned


class Clock:
    now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def batch(tokens=10, wrong=1, sequences=2, wrong_sequences=1, **changes):
    return learned(
        sequences=sequences,
        tokens=tokens,
        token_mistakes=wrong,
        sequence_mistakes=wrong_sequences,
        loss=4.0,
        **changes,
    )


def fed(history, count, **changes):
    for _ in range(count):
        history(batch(**changes))
    return history


def test_each_interval_is_scored_separately():
    history = History(clock=Clock())
    fed(history, 5, wrong=5)
    fed(history, 5, wrong=1, gauges={"features_known": 7.0}, progressive={"f1/micro/fading": 0.5})
    curve = history.curve(2)
    assert curve["sequences"] == [10, 20]
    assert curve["time"] == [5, 10]
    assert curve["accuracy"] == pytest.approx([0.5, 0.9])
    assert curve["sequence_accuracy"] == [0.5, 0.5]
    assert curve["loss"] == [2.0, 2.0]
    assert curve["f1"][1] == 0.5
    assert math.isnan(curve["f1"][0])
    assert curve["features"] == [12.0, 7.0]


def test_a_year_is_still_there_in_bounded_memory():
    history = History(capacity=64, clock=Clock())
    fed(history, 1000, wrong=10)
    fed(history, 9000, wrong=0)
    assert len(history.state()["totals"]) <= 64
    curve = history.curve(10)
    assert curve["sequences"][-1] == 20_000
    assert curve["accuracy"][0] == pytest.approx(0.0, abs=0.2)
    assert curve["accuracy"][-1] == 1.0
    ends = history.state()["totals"][:, 1]
    assert np.diff(ends).max() <= 4 * 20_000 / 64


@pytest.mark.parametrize("sizes", [[1500], [1, 1499], [700, 800], [1] * 1500])
def test_how_the_stream_is_cut_into_batches_changes_no_point_of_the_curve(sizes):
    random = np.random.default_rng(0)
    lengths, losses = random.integers(5, 20, 1500), random.random(1500)
    wrong = random.integers(0, 5, 1500)
    one, other = History(capacity=64, clock=Clock()), History(capacity=64, clock=Clock())
    for history, ends in ((one, [1500]), (other, np.cumsum(sizes))):
        for end, size in zip(ends, np.diff(ends, prepend=0), strict=True):
            part = slice(end - size, end)
            history(Learned(lengths[part], wrong[part], wrong[part] > 2, losses[part], 0.0, 0.0, Standing()))
    curve, cut = one.curve(20), other.curve(20)
    assert len(curve["sequences"]) == 20
    for name in ("sequences", "accuracy", "sequence_accuracy", "loss"):
        assert cut[name] == curve[name], name


def test_the_first_sequence_is_a_point_already():
    history = fed(History(clock=Clock()), 1, sequences=1, wrong=1)
    assert history.curve(100)["accuracy"] == [0.9]


def test_the_totals_of_older_releases_at_the_ends_of_batches_are_continued():
    ends = np.array([0.0, 700, 1900, 2000])
    totals = np.zeros((4, 9))
    totals[:, 1], totals[:, 2], totals[:, 4] = ends, 10 * ends, ends
    history = History(capacity=64, clock=Clock())
    history.restore({"totals": totals, "stride": 0.0, "drifts": []})
    fed(history, 2000, tokens=20, wrong=0)
    state, curve = history.state(), history.curve(4)
    assert len(state["totals"]) <= 64
    assert curve["sequences"][-1] == 6000
    assert history.accuracy(0, 2000) == pytest.approx(0.9)
    assert curve["accuracy"][-1] == 1.0


def test_totals_are_exact_whatever_was_thinned_out():
    history = fed(History(capacity=16, clock=Clock()), 777, wrong=3)
    [accuracy] = history.curve(1)["accuracy"]
    assert accuracy == pytest.approx(0.7)
    assert history.state()["totals"][-1, 2] == 7770


def test_saved_and_restored_it_goes_on():
    clock, drift = Clock(), Drift(3, "error", "adwin", 0.1, 0.5, ("rewarm",))
    first = fed(History(capacity=16, clock=clock), 40)
    first(batch(drifts=[drift]))
    resumed = History(capacity=16, clock=clock)
    resumed.restore(codec.decode(b"".join(codec.encode(first.state()))))
    clock.now = 0.0
    fed(resumed, 40)
    clock.now = 0.0
    fed(first, 40)
    assert resumed.state()["totals"].tobytes() == first.state()["totals"].tobytes()
    assert resumed.drifts == first.drifts == [drift]


def test_of_drifts_the_newest_stay():
    history = History()
    for sequence in range(300):
        history(batch(drifts=[Drift(sequence, "error", "adwin", 0.1, 0.5)]))
    assert [drift.sequence for drift in history.drifts] == list(range(100, 300))


def test_nothing_learned_has_no_curve_and_no_state_is_a_beginning():
    history = History()
    history.restore({})
    assert set(map(tuple, history.curve(5).values())) == {()}


def test_the_accuracy_of_any_part_of_the_stream_is_interpolated():
    history = History(clock=Clock())
    assert history.accuracy(0, 10) is None
    history(batch(sequences=100, tokens=800, wrong=400, wrong_sequences=100))
    history(batch(sequences=100, tokens=800, wrong=0))
    assert history.accuracy(0, 200) == pytest.approx(0.75)
    assert history.accuracy(-50, 50) == pytest.approx(0.5)
    assert history.accuracy(50, 150) == pytest.approx(0.75)
    assert history.accuracy(200, 300) is None
