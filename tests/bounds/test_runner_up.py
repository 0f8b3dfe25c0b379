"""The runner-up bounds on multinomials: both sides of the guarantee, and twins that break it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, laplace, norm, uniform

from smoothcert.bounds import clopper_pearson_lower, clopper_pearson_upper, runner_up_bounds
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import DiscreteReplacement, Gaussian, GridGaussian, Laplace, Uniform

ALPHA, TIMES = 0.05, 20_000
MOST = int(binom.isf(1e-4, TIMES, ALPHA)) / TIMES  # exceeded once in ten thousand such tests
LAWS = [Gaussian(0.5), Uniform(0.6), Laplace(0.4), GridGaussian(0.5, 784)]
SHAPES = {
    "flat": lambda c: np.full(c - 1, 1.0),
    "one rival": lambda c: np.r_[1.0, np.full(c - 2, 1e-9)],
    "two rivals": lambda c: np.r_[1.0, 1.0, np.full(c - 3, 1e-9)] if c > 3 else np.full(c - 1, 1.0),
    "falling": lambda c: 0.8 ** np.arange(c - 1),
}


def probabilities(classes, p_a, shape):
    rest = SHAPES[shape](classes)
    return np.r_[p_a, (1 - p_a) * rest / rest.sum()]


def counts(p, n, seed):
    return np.random.default_rng(seed).multinomial(n, p / p.sum(), size=TIMES)


def radius_of(p_lower, q_upper):
    return Gaussian(1.0).runner_up_radius(p_lower, q_upper)


def test_the_published_case():
    """C = 10, p_A = .6, the rest flat, n = 10,000: about .90 sigma where the default gives about .21."""
    drawn = counts(probabilities(10, 0.6, "flat"), 10_000, seed=1)
    both = radius_of(*runner_up_bounds(drawn[:, 0], drawn[:, 1:].max(axis=1), 10_000, 0.001))
    default = Gaussian(1.0).radius(clopper_pearson_lower(drawn[:, 0], 10_000, 0.001))
    assert both.mean() == pytest.approx(0.90, abs=0.015)
    assert default.mean() == pytest.approx(0.21, abs=0.01)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("classes, p_a", [(2, 0.7), (3, 0.45), (10, 0.6), (100, 0.3)])
def test_radius_exceeds_the_truth_at_most_alpha_of_the_time_and_comes_near_it(classes, p_a, shape):
    n = 40_000
    p = probabilities(classes, p_a, shape)
    truth = (norm.ppf(p_a) - norm.ppf(p[1:].max())) / 2
    drawn = counts(p, n, seed=classes)
    found = radius_of(*runner_up_bounds(drawn[:, 0], drawn[:, 1:].max(axis=1), n, ALPHA))
    if truth <= 0:
        assert (found > 0).mean() <= MOST
        return
    assert (found > truth).mean() <= MOST
    assert (found >= 0.8 * truth).mean() >= 0.9


@pytest.mark.parametrize("classes", [2, 10, 100])
@pytest.mark.parametrize("shape", ["flat", "one rival"])
def test_no_lead_is_claimed_at_even_odds(classes, shape):
    """The class of the bounding votes was chosen by others: here it is any one of those that share the lead."""
    p = probabilities(classes, 1 / classes if shape == "flat" else 0.5, shape)
    drawn = counts(p, 1_000, seed=3)
    p_lower, q_upper = runner_up_bounds(drawn[:, 0], drawn[:, 1:].max(axis=1), 1_000, ALPHA)
    assert (p_lower > q_upper).mean() <= MOST


def unsplit(first, other, n, alpha):
    p = clopper_pearson_lower(first, n, alpha)
    return p, np.minimum(clopper_pearson_upper(other, n, alpha), 1 - p)


def test_an_alpha_that_is_not_split_fails():
    """Three classes, two of them near: the class's bound and its rival's err on different occasions."""
    p, n = np.array([0.4, 0.3, 0.3]), 3_000
    drawn = counts(p, n, seed=5)
    first, other = drawn[:, 0], drawn[:, 1]  # one rival, so that its bound is not helped by a maximum

    def misses(bounds):
        p_lower, q_upper = bounds(first, other, n, ALPHA)
        return ((p_lower > p[0]) | (q_upper < p[1])).mean()

    assert misses(unsplit) > MOST
    assert misses(runner_up_bounds) <= MOST


def test_a_bound_on_a_fixed_class_fails_where_that_is_not_the_strongest():
    """Bounding the class that came second among a few selecting votes says nothing of the others."""
    p, n = np.r_[0.3, 0.002, 0.28, np.full(7, 0.418 / 7)], 2_000  # the true rival is class 2
    truth = (norm.ppf(0.3) - norm.ppf(0.28)) / 2
    drawn = counts(p, n, seed=6)
    twin = radius_of(*runner_up_bounds(drawn[:, 0], drawn[:, 1], n, ALPHA))
    sound = radius_of(*runner_up_bounds(drawn[:, 0], drawn[:, 1:].max(axis=1), n, ALPHA))
    assert (twin > truth).mean() > MOST
    assert (sound > truth).mean() <= MOST


@pytest.mark.parametrize("n, p, q", [(200, 0.5, 0.3), (1_000, 0.4, 0.35), (1_000, 0.6, 0.4)])
def test_exact_coverage_of_both_bounds_together(n, p, q):
    """Exact: over the binomial law of each count, the chance that either bound misses is at most alpha."""
    k = np.arange(n + 1)
    p_lower, _ = runner_up_bounds(k, 0, n, ALPHA)
    below = binom.pmf(k, n, p)[p_lower > p].sum()
    _, q_upper = runner_up_bounds(0, k, n, ALPHA)  # p_L = 0: the cap is 1
    above = binom.pmf(k, n, q)[q_upper < q].sum()
    assert below <= ALPHA / 2
    assert above <= ALPHA / 2
    assert below + above >= 0.5 * ALPHA


@given(n=st.integers(1, 10**6), share=st.floats(0, 1), rest=st.floats(0, 1), alpha=st.floats(1e-8, 0.49))
def test_bounds_are_safe_ordered_and_monotone(n, share, rest, alpha):
    first = int(share * n)
    other = int(rest * (n - first))
    p_lower, q_upper = runner_up_bounds(first, other, n, alpha)
    assert 0 <= p_lower <= first / n
    assert 0 <= q_upper <= 1 - p_lower
    assert q_upper >= other / n or q_upper == 1 - p_lower
    if first + other < n:
        assert runner_up_bounds(first + 1, other, n, alpha)[0] > p_lower
        assert runner_up_bounds(first, other + 1, n, alpha)[1] >= q_upper
    for law in LAWS:
        radius = law.runner_up_radius(p_lower, q_upper)
        assert not np.isnan(radius)
        if p_lower <= q_upper:
            assert radius == 0
        else:
            assert radius <= law.runner_up_radius(min(1.0, p_lower + 0.01), q_upper)
            assert radius >= law.runner_up_radius(p_lower, q_upper + (1 - q_upper) / 100)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.law_name)
@given(p=st.floats(0, 1))
def test_with_a_single_rival_it_is_the_default_radius(law, p):
    both, default = law.runner_up_radius(p, 1 - p), law.radius(p)
    assert both <= default
    assert both == pytest.approx(default, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("law", LAWS[:3], ids=lambda law: law.law_name)
def test_no_radius_beyond_the_boundary_between_three_intervals(law):
    """Class A below a, class B above b >= a, class C between: A's lead over B and C ends before the truth says.

    In one dimension, moving the image by r to the right, A keeps F(a - r), B has 1 - F(b - r), C the rest. The
    radius claimed from the probabilities at the image must not exceed the first r where A no longer leads.
    """
    cdf = {
        "gaussian": norm(scale=0.5).cdf,
        "uniform": uniform(-0.6, 1.2).cdf,
        "laplace": laplace(scale=0.4).cdf,
    }[law.law_name]
    moves = np.linspace(0, 2, 4_001)
    for a in np.linspace(-0.3, 0.55, 12):
        for b in np.linspace(a, a + 1.5, 12):
            of_a, of_b = cdf(a - moves), 1 - cdf(b - moves)
            leads = of_a > np.maximum(of_b, 1 - of_a - of_b)
            truth = 0.0 if not leads[0] else moves[np.argmin(leads)] if not leads.all() else np.inf
            rival = max(of_b[0], 1 - of_a[0] - of_b[0])
            assert law.runner_up_radius(float(of_a[0]), float(rival)) <= truth + 1e-9


@pytest.mark.parametrize("p, q", [(-0.1, 0.2), (0.5, 1.1), (np.nan, 0.1), (0.5, np.nan)])
def test_refuses_what_is_no_probability(p, q):
    with pytest.raises(InvalidArgumentError, match=r"p_lower|q_upper"):
        Gaussian(0.5).runner_up_radius(p, q)


def test_l0_has_no_radius_from_the_runner_up():
    with pytest.raises(InvalidArgumentError, match="'discrete' has no radius from the runner-up"):
        DiscreteReplacement(0.8).runner_up_radius(0.9, 0.05)
