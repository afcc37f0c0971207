import numpy as np
import pytest

from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.updates.averaging import (
    AVERAGE_ALL,
    AVERAGE_EXPONENTIAL,
    AVERAGE_NONE,
    Averaging,
    average_factor,
    average_share,
    rescale,
)


def changes(seed, sequences, rows=6, labels=3):
    """Draw what some sequences change of the weights: (row, label, step)."""
    rng = np.random.default_rng(seed)
    for _ in range(sequences):
        n = int(rng.integers(0, 3))
        yield list(zip(rng.integers(0, rows, n), rng.integers(0, labels, n), rng.normal(size=n), strict=True))


def followed(averaging, retained, first=0, sequences=3000):
    """Compare with the average of dense weights after every sequence; return how often plane 1 was scaled."""
    weights = Weights(np.zeros((6, 2, 1, 3)), np.zeros((6, 2, 4, 3)), np.zeros((6, 2, 4, 3)))
    w, mean = np.zeros((6, 3)), np.zeros((6, 3))
    count, scaled = first, 0
    for change in changes(1, sequences):
        for row, y, step in change:
            for array in weights[:3]:
                array[row, 0, 0, y] += step
                array[row, 1, 0, y] += average_factor(averaging, count) * step
            w[row, y] += step
        count += 1
        before = weights.node[:, 1].copy()
        rescale(averaging, count, (6, 6), weights)
        scaled += bool((before != weights.node[:, 1]).any())
        mean = retained(count) * mean + (1.0 - retained(count)) * w
        for array in weights[:3]:
            got = array[:, 0, 0] - average_share(averaging, count) * array[:, 1, 0]
            assert np.abs(got - mean).max() < 1e-12 * max(1.0, np.abs(w).max())
    return scaled


def test_the_average_of_all_is_that_of_dense_weights():
    assert followed(Averaging(AVERAGE_ALL, 1.0), lambda n: (n - 1) / n) == 0


@pytest.mark.parametrize(
    ("half_life", "rescales"), [(700.0, 0), (3.7, 1), (1.0, 5), (0.3, 19), (0.01, None), (1e-4, None)]
)
def test_the_fading_average_is_that_of_dense_weights_however_often_it_is_rescaled(half_life, rescales):
    averaging = Averaging(AVERAGE_EXPONENTIAL, half_life)
    scaled = followed(averaging, lambda _: 0.5 ** (1.0 / half_life))
    assert rescales is None or scaled == rescales


def test_the_fading_average_is_exact_after_thousands_of_millions_of_sequences():
    averaging = Averaging(AVERAGE_EXPONENTIAL, 3.7)
    assert followed(averaging, lambda _: 0.5 ** (1.0 / 3.7), first=7 * 10**9) == 1


def test_with_no_average_plane_1_stays_empty_and_is_not_read():
    averaging = Averaging(AVERAGE_NONE, 1.0)
    assert average_factor(averaging, 5) == average_share(averaging, 5) == 0.0
