"""Clopper-Pearson against its definition, its reference implementation and exact coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from smoothcert.bounds import clopper_pearson_lower, clopper_pearson_upper
from smoothcert.errors import InvalidArgumentError

SIZES = (1, 2, 3, 7, 10, 64, 100, 1_000, 12_345, 100_000, 1_000_000, 10_000_000)
LEVELS = (1e-6, 1e-4, 0.001, 0.01, 0.05, 0.3, 0.5, 0.9)


def grid_of_counts(n):
    near = np.r_[0:4, n - 3 : n + 1]
    spread = np.unique(np.linspace(0, n, 41).astype(np.int64))
    return np.unique(np.clip(np.r_[near, spread], 0, n))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("alpha", LEVELS)
def test_equal_to_the_beta_quantile_and_never_beyond_it(n, alpha):
    k = grid_of_counts(n)
    lower, upper = clopper_pearson_lower(k, n, alpha), clopper_pearson_upper(k, n, alpha)
    inner, below_n = k[k > 0], k[k < n]
    reference = beta.ppf(alpha, inner, n - inner + 1)
    np.testing.assert_allclose(lower[k > 0], reference, rtol=1e-9, atol=0)
    assert (lower[k > 0] <= reference).all()
    reference = beta.isf(alpha, below_n + 1, n - below_n)
    np.testing.assert_allclose(upper[k < n], reference, rtol=1e-9, atol=0)
    assert (upper[k < n] >= reference).all()


@pytest.mark.parametrize("n", SIZES)
def test_ends_are_exact(n):
    assert clopper_pearson_lower(0, n, 0.001) == 0.0
    assert clopper_pearson_upper(n, n, 0.001) == 1.0
    assert clopper_pearson_lower(n, n, 0.001) == pytest.approx(0.001 ** (1 / n), rel=1e-9)
    assert clopper_pearson_upper(0, n, 0.001) == pytest.approx(-np.expm1(np.log(0.001) / n), rel=1e-9)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.69, 0.84, 0.99])
@pytest.mark.parametrize("n", [1, 10, 100, 3_000])
def test_exact_error_is_at_most_alpha_and_not_far_below(n, p):
    """Exact coverage: the chance, summed over all counts, that the bound misses p."""
    k, alpha = np.arange(n + 1), 0.05
    law = binom.pmf(k, n, p)
    miss_low = law[clopper_pearson_lower(k, n, alpha) > p].sum()
    miss_high = law[clopper_pearson_upper(k, n, alpha) < p].sum()
    assert miss_low <= alpha
    assert miss_high <= alpha
    if n * p * (1 - p) > 50:  # where the law is fine enough not to be conservative
        assert min(miss_low, miss_high) >= 0.7 * alpha


@given(n=st.integers(1, 10**6), share=st.floats(0, 1), alpha=st.floats(1e-8, 0.49))
def test_bounds_enclose_the_share_and_grow_with_the_count(n, share, alpha):
    k = int(share * n)
    low, high = clopper_pearson_lower(k, n, alpha), clopper_pearson_upper(k, n, alpha)
    assert 0 <= low <= k / n <= high <= 1
    if k < n:
        assert clopper_pearson_lower(k + 1, n, alpha) > low
        assert clopper_pearson_upper(k + 1, n, alpha) >= high


def test_scalars_give_floats_and_arrays_arrays():
    assert isinstance(clopper_pearson_lower(3, 5, 0.1), float)
    assert clopper_pearson_lower([1, 2], 5, 0.1).shape == (2,)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, float("nan"), True, "0.1"])
def test_refuses_an_alpha_outside_the_open_interval(alpha):
    with pytest.raises(InvalidArgumentError, match="alpha"):
        clopper_pearson_lower(1, 2, alpha)


@pytest.mark.parametrize("k, n", [(3, 2), (-1, 2), (0, 0), (float("nan"), 2)])
def test_refuses_impossible_counts(k, n):
    with pytest.raises(InvalidArgumentError, match="successes"):
        clopper_pearson_upper(k, n, 0.1)
