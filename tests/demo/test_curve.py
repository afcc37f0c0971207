import numpy as np
import pytest

from streamlearn.demo.curve import Curve


def test_nothing_learned_has_no_accuracy() -> None:
    curve = Curve()
    assert curve.accuracy(0, 10) is None
    assert np.isnan(curve.between(np.linspace(0, 100, 5))).all()


def test_each_stretch_has_its_own_accuracy() -> None:
    curve = Curve()
    curve.add(100, 800, 400)
    curve.add(100, 800, 0)
    np.testing.assert_allclose(curve.between(np.array([0, 100, 200, 300.0])), [0.5, 1.0, np.nan])
    assert curve.accuracy(0, 200) == pytest.approx(0.75)
    assert curve.accuracy(-50, 50) == pytest.approx(0.5)


def test_a_long_run_keeps_its_shape_in_bounded_memory() -> None:
    small, whole = Curve(capacity=64), Curve(capacity=100_000)
    rng = np.random.default_rng(0)
    for step in range(5000):
        tokens = int(rng.integers(1, 50))
        mistakes = tokens if step < 2500 else 0
        for curve in (small, whole):
            curve.add(10, tokens, mistakes)
    assert len(small._totals) <= 64
    assert small.end == whole.end == 50_000
    assert small.accuracy(0, 50_000) == whole.accuracy(0, 50_000)
    edges = np.linspace(0, 50_000, 11)
    np.testing.assert_allclose(small.between(edges), whole.between(edges), atol=0.3)
    np.testing.assert_allclose(small.between(edges)[[0, 3, 6, 9]], [0, 0, 1, 1])
