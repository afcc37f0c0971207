import subprocess
import sys

import numpy as np
import pytest

from streamlearn.monitor.detector import RECENT, Detector

KINDS = ["adwin", "page_hinkley", "kswin"]


def stream(*means, each=300, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(mean, noise, each) for mean in means]).tolist()


def found(detector, values):
    return [number for number, value in enumerate(values) if detector.update(value)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_rise_is_seen_soon_and_once(kind):
    [number] = found(Detector(kind), stream(10, 20))
    assert 300 <= number < 400


@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_that_does_not_change_raises_no_alarm(kind):
    assert found(Detector(kind), stream(10, each=3000, seed=1)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_learning_is_no_drift(kind):
    assert found(Detector(kind), stream(30, 20, 10)) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("saved_at", [0, 1, 250, 310, 700])
def test_saved_and_restored_it_decides_as_if_nothing_had_happened(kind, saved_at):
    values = stream(10, 20, 10, 25)
    first, resumed = Detector(kind), Detector(kind)
    before = found(first, values[:saved_at])
    resumed.restore(first.state())
    after = [saved_at + number for number in found(resumed, values[saved_at:])]
    whole = Detector(kind)
    assert before + after == found(whole, values)
    assert resumed.state().tobytes() == whole.state().tobytes()


def test_memory_is_bounded_and_what_is_kept_still_decides():
    detector = Detector("page_hinkley")
    assert found(detector, stream(10, each=9000)) == []
    assert 2048 <= len(detector.state()) <= 4096
    assert found(detector, stream(20, each=50))


def test_the_score_is_in_standard_errors():
    detector = Detector("adwin")
    found(detector, [1.0, 3.0] * 20)
    assert abs(detector.score()) < 2
    found(detector, [4.0] * 4)
    assert detector.score() > 3
    assert np.isnan(Detector("adwin").score())


def test_a_restored_detector_scores_as_the_one_that_was_saved():
    values = stream(10, each=200)
    detector, resumed = Detector("adwin"), Detector("adwin")
    found(detector, values)
    resumed.restore(detector.state())
    old, late = np.array(values[:-RECENT]), np.array(values[-RECENT:])
    expected = (late.mean() - old.mean()) / (old.std() / RECENT**0.5)
    assert detector.score() == resumed.score() == pytest.approx(expected)


def test_a_command_that_detects_drift_starts_without_scipy_and_data_sets():
    code = (
        "import sys; from streamlearn.monitor.drift import DriftWatch; "
        "from streamlearn.monitor.progressive import Progressive; "
        "DriftWatch(['adwin', 'page_hinkley'], ['error']); Progressive().scores(); "
        "print(*{'scipy.stats', 'river.drift', 'river.metrics', 'river.datasets'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
