"""exp of many numbers, against the C library in extended precision."""

import numpy as np
import pytest

from streamlearn.kernels.chain.exponential import exponentials


def exponentials_of(values):
    out = np.array(values, np.float64)
    exponentials(out, np.empty_like(out))
    return out


@pytest.mark.parametrize("least", [-1e-300, -1e-8, -1.0, -50.0, -700.0])
def test_results_are_within_two_units_in_the_last_place(least):
    values = np.append(np.random.default_rng(0).uniform(least, 0.0, 20_001), [least, 0.0])
    exact = np.exp(values.astype(np.longdouble))
    units = np.abs(exponentials_of(values) - exact) / np.spacing(exact.astype(np.float64))
    assert units.max() < 2


def test_halfway_between_powers_of_two_nothing_jumps():
    centre = -np.arange(1.0, 1000.0) * np.log(2.0) / 2
    values = np.sort(np.concatenate([np.nextafter(centre, 0), centre, np.nextafter(centre, -1000)]))
    assert (np.diff(exponentials_of(values)) >= 0).all()


def test_the_impossible_and_the_far_away_are_zero():
    assert exponentials_of([-np.inf, np.nan, -700.1, -1e300]).tolist() == [0.0] * 4
    assert exponentials_of([0.0, -0.0]).tolist() == [1.0, 1.0]


def test_how_many_there_are_changes_no_bit():
    values = np.random.default_rng(1).uniform(-30.0, 0.0, 37)
    together = exponentials_of(values)
    assert together.tolist() == [exponentials_of([x])[0] for x in values]
