"""The e-process against numerical integration, high precision and the martingale identity."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import xlogy

from smoothcert.bounds import (
    confidence_sequence_lower,
    confidence_sequence_upper,
    crossing_probability,
    log_evidence_above,
    log_evidence_below,
    operate,
    sequential_boundary,
    shared_vote_level,
    two_way_p_value,
    wrong_class_factor,
)
from smoothcert.bounds.boundary import Boundary

THRESHOLDS = (0.5, 0.69, 0.8413, 0.977, 0.99865)


def evidence_by_integration(a, n, p0, upper):
    """Jeffreys' prior is uniform in theta where p = sin^2(theta): no singular ends, plain quadrature."""
    cut = math.asin(math.sqrt(p0))
    low, high = (cut, math.pi / 2) if upper else (0.0, cut)

    def likelihood_ratio(theta):
        s, c = math.sin(theta) ** 2, math.cos(theta) ** 2
        return math.exp(xlogy(a, s / p0) + xlogy(n - a, c / (1 - p0)))

    return quad(likelihood_ratio, low, high, limit=200, epsabs=0, epsrel=1e-10)[0] / (high - low)


@pytest.mark.parametrize("p0", THRESHOLDS)
@pytest.mark.parametrize("n", [1, 5, 40, 200])
def test_evidence_equals_the_integral(n, p0):
    near = int(n * p0)  # far from there the quadrature itself overflows at n = 200
    for a in {0, 1, n // 2, near, n - 1, n} if n <= 40 else {near - 3, near, n - 1, n}:
        for upper, function in ((True, log_evidence_above), (False, log_evidence_below)):
            expected = evidence_by_integration(a, n, p0, upper)
            found = float(function(a, n, p0))
            if found < -10 or expected < 0.1:  # the tail underflows far on the other side of p0 ..
                assert found <= math.log(expected) + 1e-7  # .. where only overstating would matter
            else:
                assert found == pytest.approx(math.log(expected), abs=1e-7)


@pytest.mark.parametrize("n, a", [(1_000, 900), (100_000, 84_500), (100_000, 90_000), (1_000_000, 842_000)])
def test_evidence_is_never_overstated(n, a):
    """Against fifty digits: at or below the true value, and by less than what a vote changes."""
    p0 = 0.8413
    with mpmath.workdps(50):
        p, x, y = mpmath.mpf(p0), mpmath.mpf(a) + 0.5, mpmath.mpf(n - a) + 0.5
        tail = mpmath.betainc(x, y, p, 1, regularized=True) * mpmath.beta(x, y)
        prior = mpmath.betainc(0.5, 0.5, p, 1)
        exact = mpmath.log(tail / prior) - a * mpmath.log(p) - (n - a) * mpmath.log(1 - p)
        gap = float(exact - mpmath.mpf(float(log_evidence_above(a, n, p0))))
    assert 0 <= gap < 1e-6


@given(
    n=st.integers(0, 3_000),
    share=st.floats(0, 1),
    p0=st.floats(0.01, 0.999),
    below=st.floats(0, 1),
)
def test_evidence_is_a_supermartingale_under_every_p_of_the_null(n, share, p0, below):
    """Its expectation after one more vote is at most its value, so looking again never gains by itself."""
    # Far below p0 the posterior tail underflows; the evidence is below one there, and only understated.
    least = max(0, int(n * p0 - 8 * math.sqrt(n * p0 * (1 - p0))))
    a = least + int(share * (n - least))
    now = float(log_evidence_above(a, n, p0))
    grown = np.exp(log_evidence_above([a + 1, a], n + 1, p0) - now)
    for p in (p0, p0 * below):
        assert p * grown[0] + (1 - p) * grown[1] <= 1 + 1e-6
    assert p0 * grown[0] + (1 - p0) * grown[1] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("p0", THRESHOLDS)
def test_boundary_is_where_the_evidence_crosses(p0):
    boundary = sequential_boundary(tuple(range(1, 9_000)), p0, 0.001, 0.01)
    n, up, down = boundary.looks, boundary.certify, boundary.abandon
    reachable, hopeless = up <= n, down >= 0
    assert reachable.any()
    assert hopeless.any()
    assert (log_evidence_above(up, n, p0)[reachable] >= math.log(1_000)).all()
    assert (log_evidence_above(np.minimum(up - 1, n), n, p0) < math.log(1_000)).all()
    assert (log_evidence_below(down, n, p0)[hopeless] >= math.log(100)).all()
    assert (log_evidence_below(np.minimum(down + 1, n), n, p0) < math.log(100)).all()
    assert (up > n * p0).all()
    assert (down < n * p0).all()


@pytest.mark.parametrize("p", [0.5, 0.69, 0.9])
def test_confidence_sequence_misses_with_at_most_alpha_at_any_time(p):
    """Exact: the chance that the lower bound ever exceeds p within 2,000 votes, looking after every vote."""
    alpha, n = 0.05, np.arange(1, 2_001)
    boundary = sequential_boundary(tuple(n), p, alpha, 0.5)
    up, reachable = boundary.certify, boundary.certify <= n
    # The bound exceeds p exactly where the test of p certifies, and nowhere below.
    assert (confidence_sequence_lower(up[reachable], n[reachable], alpha) > p).all()
    assert (confidence_sequence_lower(up - 1, n, alpha) <= p).all()
    error = operate(Boundary(n, boundary.certify, np.full_like(n, -1)), p).certified
    assert alpha / 4 < error <= alpha


@given(n=st.integers(1, 20_000), share=st.floats(0, 1), alpha=st.floats(1e-6, 0.3))
def test_confidence_sequence_encloses_the_share_and_grows_with_the_count(n, share, alpha):
    k = int(share * n)
    low, high = confidence_sequence_lower(k, n, alpha), confidence_sequence_upper(k, n, alpha)
    assert 0 <= low <= k / n <= high <= 1
    if k < n:
        assert confidence_sequence_lower(k + 1, n, alpha) >= low


def test_evidence_falls_as_the_null_grows():
    """Nested nulls: whoever rejects p0 rejects all smaller ones, so a grid of radii needs no correction."""
    grid = np.linspace(0.001, 0.95, 4_000)
    for a, n in ((60, 64), (950, 1_000), (99_000, 100_000), (64, 64)):
        evidence = log_evidence_above(a, n, grid[grid < a / n])
        strong = evidence >= math.log(20)
        assert (np.diff(evidence)[strong[1:]] < 0).all()
        assert (strong == (np.arange(strong.size) < strong.sum())).all()


@pytest.mark.parametrize("radius", [0.25, 0.5, 1.0])
def test_price_of_choosing_the_class_by_the_same_votes(radius):
    """Exact crossing at 1 - p0 is below the charge, and both together stay within alpha for any other split."""
    from scipy.stats import norm

    p0, alpha, looks = float(norm.cdf(radius)), 0.001, tuple(range(1, 1_001))

    def make(level):
        return sequential_boundary(looks, p0, level, alpha)

    level = shared_vote_level(make, p0, alpha)
    assert alpha * 0.99 < level < alpha
    boundary = make(level)

    def crossing(p):
        return crossing_probability(boundary.looks, boundary.certify, p)

    assert crossing(1 - p0) < 5e-7
    assert crossing(1 - p0) <= level * wrong_class_factor(boundary, p0)
    worst = max(crossing(p) + crossing(1 - p) for p in np.linspace(0.5, p0, 9))
    assert worst <= alpha
    chances = [crossing(p) for p in np.linspace(1e-6, p0, 30)]
    assert (np.diff(chances, 2) >= -1e-12).all()  # convex, so two classes are the worst split


def test_sharing_votes_at_radius_zero_costs_half_of_alpha():
    looks = tuple(range(64, 1_000, 64))
    level = shared_vote_level(lambda level: sequential_boundary(looks, 0.5, level, 0.001), 0.5, 0.001)
    assert level == pytest.approx(0.0005, rel=1e-9)
    assert level < 0.0005


@given(first=st.integers(0, 2_000), second=st.integers(0, 2_000))
def test_two_way_p_value_against_the_library(first, second):
    from scipy.stats import binomtest

    first, second = max(first, second), min(first, second)
    expected = binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert two_way_p_value(first, second) == pytest.approx(expected, rel=1e-9)
