"""Clopper-Pearson against its definition, its reference implementation and exact coverage."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import beta, binom

from exact_tails import log_tail_over, lower_excess, upper_excess
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


HOLES = (999, 1_000)  # counts, from either end, at which scipy's inverse is wrong
TRIALS = (6, 333, 4_698, 10**5, 262_144, 339_583, 734_469, 10**6, 2 * 10**6, 5 * 10**6, 10**7, 10**8)


def counts_of_all_kinds(n, rng):
    ends = [*range(6), *range(n - 5, n + 1), n // 2, n // 2 + 1, *HOLES, *(n - hole for hole in HOLES)]
    logs = np.exp(rng.uniform(0, np.log(n), 6)).astype(np.int64)
    return sorted({int(k) for k in (*ends, *rng.integers(0, n + 1, 6), *logs, *(n - logs)) if 0 <= k <= n})


@pytest.mark.parametrize("n", TRIALS)
@pytest.mark.parametrize("alpha", [0.99, 0.5, 0.1, 0.05, 0.002, 0.001, 0.0005, 1e-6, 1e-20, 1e-90])
def test_never_inside_the_exact_bound_however_many_trials(n, alpha):
    """The bound's definition, by tails of fifty digits: scipy's inverse alone is wrong here and there."""
    rng = np.random.default_rng([n, int(1 / alpha) % 2**32])
    for k in counts_of_all_kinds(n, rng):
        lower, upper = clopper_pearson_lower(k, n, alpha), clopper_pearson_upper(k, n, alpha)
        if k > 0:
            assert lower_excess(k, n, lower, alpha) <= 0, k
        if upper < 1:
            assert upper_excess(k, n, upper, alpha) <= 0, k
        if 0 < k < n and min(k, n - k) not in HOLES and max(lower, upper) < 1 - 1e-6:  # and not far outside
            assert lower_excess(k, n, lower * (1 + 1e-7), alpha) > 0, k
            assert upper_excess(k, n, upper * (1 - 1e-7), alpha) > 0, k


@pytest.mark.parametrize("n", [262_144, 734_469, 10**8])
def test_the_hole_where_a_radius_comes_from(n):
    """999 votes for other classes: scipy's inverse puts the lower bound above the exact one."""
    k, alpha = n - 999, 1e-6 if n < 10**6 else 0.001
    assert lower_excess(k, n, betaincinv(k, n - k + 1, alpha) * (1 - 1e-11), alpha) > 0
    assert lower_excess(k, n, clopper_pearson_lower(k, n, alpha), alpha) <= 0


@pytest.mark.slow
@pytest.mark.parametrize("top", [3 * 10**5, 10**6, 10**7, 10**8])
def test_never_inside_the_exact_bound_at_random(top):
    rng = np.random.default_rng(top)
    for _ in range(1_000):
        n = int(np.exp(rng.uniform(np.log(top / 10), np.log(top))))
        k = int(rng.choice([rng.integers(1, 60), n - rng.integers(1, 60), rng.integers(1, n)]))
        alpha = float(10.0 ** -rng.choice([rng.uniform(0.001, 1), rng.uniform(1, 5), rng.uniform(5, 99)]))
        assert lower_excess(k, n, clopper_pearson_lower(k, n, alpha), alpha) <= 0, (k, n, alpha)
        upper = clopper_pearson_upper(k, n, alpha)
        assert upper == 1 or upper_excess(k, n, upper, alpha) <= 0, (k, n, alpha)


def test_exact_tails_are_those_of_fractions():
    """The reference against whole numbers: P(X >= k) summed by fractions."""
    for n, k, p in ((7, 3, 0.25), (40, 30, 0.5), (64, 1, 1e-3)):
        share = Fraction(p)
        tail = sum(math.comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(k, n + 1))
        assert log_tail_over(k, n, Decimal(p), 0.25) == pytest.approx(
            math.log(tail / Fraction(0.25)), abs=1e-14
        )


@pytest.mark.parametrize(
    ("k", "n", "alpha", "lower", "upper"),
    [
        (700, 1_000, 0.05, "0x1.59b9e4fc2ac68p-1", "0x1.72a0094071ca1p-1"),
        (60, 1_000, 0.3, "0x1.c922cdeb6c24ap-5", "0x1.08f0fd8ccfcc3p-4"),
        (1, 100_000, 0.001, "0x1.57c4f088dd453p-27", "0x1.8342f0e2785b6p-14"),
        (99_000, 100_000, 0.001, "0x1.fa5ccf91f15a0p-1", "0x1.fb5d14e538e17p-1"),
        (250_000, 262_144, 0.0005, "0x1.e794f906b22e8p-1", "0x1.e8f79828afb08p-1"),
        (600_000, 1_000_000, 0.001, "0x1.326c9e0f5188ep-1", "0x1.33f99b5bb8cbcp-1"),
        (999_999, 1_000_000, 0.001, "0x1.fffeca2dd2a27p-1", "0x1.fffffff77dddep-1"),
    ],
)
def test_values_at_moderate_numbers_of_votes_stay_bit_for_bit(k, n, alpha, lower, upper):
    """Exports of runs that are already there rest on them."""
    assert clopper_pearson_lower(k, n, alpha).hex() == lower
    assert clopper_pearson_upper(k, n, alpha).hex() == upper


@pytest.mark.parametrize("trials", [10**8 + 1, 1e12, np.inf])
def test_more_trials_than_the_arithmetic_is_good_for_are_refused(trials):
    with pytest.raises(InvalidArgumentError, match="at most 100,000,000"):
        clopper_pearson_lower(1, trials, 0.001)


@pytest.mark.parametrize("votes", ["many", 10**400, [1, "x"], 1 + 2j, [[1], [1, 2]]])
def test_votes_that_are_no_numbers_are_refused(votes):
    with pytest.raises(InvalidArgumentError, match="successes and trials must be numbers"):
        clopper_pearson_upper(votes, 10, 0.001)
