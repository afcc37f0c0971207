import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.updates import swvp_gamma as kernels
from streamlearn.learners.swvp import WEIGHTINGS
from tests import naive_swvp

# Quarters, so that sums are exact and ties are ties whatever the order.
margins = st.lists(st.integers(-12, 12).map(lambda n: n / 4), min_size=1, max_size=8)
BETAS = [0.0, 0.5, 1.0, 2.0, 5.0]


def set_gamma(found, weighting="wm", beta=1.0, aggressive=True, conditioned=True):
    found, out = np.array(found), np.full(len(found), np.nan)
    rule = kernels.Gamma(WEIGHTINGS[weighting], beta, aggressive, conditioned)
    return out.tolist() if kernels.set_gamma(found, rule, out) else None


@pytest.mark.parametrize(
    ("weighting", "aggressive", "conditioned"),
    list(itertools.product(WEIGHTINGS, *2 * [[True, False]])),
)
@settings(max_examples=100, deadline=None)
@given(found=margins, beta=st.sampled_from(BETAS))
def test_gamma_is_as_defined_and_meets_its_conditions(weighting, aggressive, conditioned, found, beta):
    got = set_gamma(found, weighting, beta, aggressive, conditioned)
    wanted = naive_swvp.set_gamma(found, weighting, beta, aggressive, conditioned)
    assert (got is None) == (wanted is None)
    if got is not None:
        assert np.allclose(got, wanted, rtol=0, atol=1e-12)
        assert np.isclose(sum(got), 1.0, rtol=0, atol=1e-12)
        if aggressive or conditioned:
            assert np.dot(got, found) <= 1e-12


def test_the_published_balanced_form_breaks_condition_2():
    assert set_gamma([-2.0, 4.0, 2.0], aggressive=False, conditioned=False) == [0.25, 0.5, 0.25]
    # The largest is left out first; a margin of 2 may remain, since a violation has the same size.
    assert set_gamma([-2.0, 4.0, 2.0], aggressive=False) == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_no_size_of_margins_overflows(scale):
    got = set_gamma([-1.0 * scale, -0.5 * scale, 0.25 * scale], beta=5.0, aggressive=False)
    wanted = np.array([1.0, 0.5**5, 0.25**5])
    assert np.allclose(got, wanted / wanted.sum(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("aggressive", [True, False])
def test_it_backs_off_where_nothing_is_a_violation_or_all_margins_are_0(weighting, aggressive):
    assert set_gamma([0.5, 2.0], weighting, aggressive=aggressive) is None
    assert set_gamma([0.0, 0.0], weighting, aggressive=aggressive) is None


def test_it_backs_off_where_only_what_had_to_go_had_a_weight():
    assert set_gamma([0.0, 2.0], "wm", aggressive=False) is None
    assert set_gamma([0.0, 2.0], "wmr", aggressive=False) == [1.0, 0.0]


def test_ties_share_the_mean_rank():
    assert set_gamma([-3.0, -1.0, -3.0, -2.0], "wmr") == [3.5 / 10, 1 / 10, 3.5 / 10, 2 / 10]
