import numpy as np
import pytest

from streamlearn.checkpoint.finite import assert_finite
from streamlearn.errors import NonFiniteWeightsError


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1_100_000, 1_199_999])
def test_one_bad_element_is_found_and_named(dtype, value, place):
    weights = np.ones((12_000, 100), dtype)
    weights[place // 100, place % 100] = value
    with pytest.raises(NonFiniteWeightsError, match=rf"model/a/1\[{place // 100},{place % 100}\] is"):
        assert_finite({"a": [np.ones(3), weights]}, "model")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_largest_finite_weights_pass(dtype):
    assert_finite({"w": np.full(1000, np.finfo(dtype).max)})


def test_empty_scalar_strided_and_integer_arrays_and_plain_nan_pass():
    assert_finite({"a": np.zeros((0, 3)), "b": np.array(1.5), "c": np.ones((4, 4))[::2].T, "d": np.arange(3)})
    assert_finite({"plain": float("nan"), "text": "nan"})


def test_a_scalar_array_is_named():
    with pytest.raises(NonFiniteWeightsError, match=r"b\[\] is nan"):
        assert_finite({"b": np.array(np.nan)})
