"""Exact expected votes and exact error of every boundary, by dynamic programming and not by sampling.

The figures of METHODS are for looks after every vote (e-process) and for the geometric looks (spending); the
chunk schedule that is really run is checked for its error here and printed beside them by the evidence.
"""

import numpy as np
import pytest
from scipy.stats import binom, norm

import smoothcert as sc
from smoothcert.bounds import (
    Boundary,
    crossing_probability,
    final_votes,
    geometric_looks,
    group_sequential_table,
    operate,
    sequential_boundary,
    staged_boundary,
)
from smoothcert.bounds.boundary import binomial_law

ALPHA = BETA = 0.001
THRESHOLDS = (0.5, 0.69, 0.84, 0.977, 0.99865)
ONE_SIGMA, THREE_SIGMA = float(norm.cdf(1)), float(norm.cdf(3))
EVERY_VOTE = {
    (ONE_SIGMA, 0.55): 36,
    (ONE_SIGMA, 0.70): 143,
    (ONE_SIGMA, 0.80): 1661,
    (ONE_SIGMA, 0.86): 7094,
    (ONE_SIGMA, 0.90): 575,
    (ONE_SIGMA, 0.95): 134,
    (ONE_SIGMA, 0.99): 57,
    (ONE_SIGMA, 0.9999): 47,
    (THREE_SIGMA, 0.95): 76,
    (THREE_SIGMA, 0.99): 932,
    (THREE_SIGMA, 0.9999): 7627,
}
SPENDING = {
    (ONE_SIGMA, 0.55): 33,
    (ONE_SIGMA, 0.70): 149,
    (ONE_SIGMA, 0.80): 1790,
    (ONE_SIGMA, 0.86): 9738,
    (ONE_SIGMA, 0.90): 844,
    (ONE_SIGMA, 0.95): 184,
    (ONE_SIGMA, 0.99): 66,
    (ONE_SIGMA, 0.9999): 55,
    (THREE_SIGMA, 0.95): 60,
    (THREE_SIGMA, 0.99): 888,
    (THREE_SIGMA, 0.9999): 9182,
}
# A figure printed as a whole number is only known to half a vote: at 33 that is more than 1%.
HALF_A_VOTE = 0.5


def looks_every(step, cap=120_000):
    return (*range(step, cap, step), cap)


@pytest.mark.slow
@pytest.mark.parametrize("p0, p", EVERY_VOTE)
def test_expected_votes_looking_after_every_vote(p0, p):
    boundary = sequential_boundary(looks_every(1), p0, ALPHA, BETA)
    assert operate(boundary, p).expected_votes == pytest.approx(EVERY_VOTE[p0, p], rel=0.01, abs=HALF_A_VOTE)


@pytest.mark.parametrize("p, votes", [(0.55, 101), (0.99, 102), (0.86, 7386)])
def test_expected_votes_looking_every_hundred(p, votes):
    boundary = sequential_boundary(looks_every(100), ONE_SIGMA, ALPHA, BETA)
    assert operate(boundary, p).expected_votes == pytest.approx(votes, rel=0.001, abs=HALF_A_VOTE)


@pytest.mark.parametrize("p0, p", SPENDING)
def test_expected_votes_of_exact_spending(p0, p):
    looks = geometric_looks(final_votes(100_000, ALPHA))
    boundary = group_sequential_table(looks, p0, ALPHA, BETA).boundary
    assert operate(boundary, p).expected_votes == pytest.approx(SPENDING[p0, p], rel=0.01, abs=HALF_A_VOTE)


def test_spending_looks_are_those_of_the_method():
    looks = geometric_looks(final_votes(100_000, ALPHA))
    assert (len(looks), looks[:3], looks[-2:]) == (106, (3, 4, 5), (101_980, 103_231))


def test_largest_radius_of_spending_beats_certify():
    looks = geometric_looks(final_votes(100_000, ALPHA))
    for radius, reachable in ((3.8193, True), (3.8194, False)):
        certify = group_sequential_table(looks, float(norm.cdf(radius)), ALPHA, BETA).boundary.certify
        assert (certify[-1] <= looks[-1]) == reachable
    assert sc.Gaussian(1.0).radius(sc.bounds.clopper_pearson_lower(10**5, 10**5, ALPHA)) < 3.8193


def without_giving_up(boundary):
    """Giving up is not counted on for soundness: the error must hold for one who goes on regardless."""
    return Boundary(boundary.looks, boundary.certify, np.full_like(boundary.abandon, -1), boundary.fresh)


def mirrored(boundary):
    """Giving up, seen as certifying failures."""
    return Boundary(boundary.looks, boundary.looks - boundary.abandon, np.full_like(boundary.abandon, -1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p0", "step"),
    [*((p0, 64) for p0 in THRESHOLDS), *((p0, 1) for p0 in (THRESHOLDS[0], THRESHOLDS[2], THRESHOLDS[-1]))],
)
def test_false_certificates_of_the_e_process(p0, step):
    """Looks at chunk borders, as they are run; and after every vote, the most that anybody can look."""
    boundary = sequential_boundary(looks_every(step), p0, ALPHA, BETA)
    done = operate(without_giving_up(boundary), p0)
    assert done.certified + done.lost <= ALPHA
    assert done.certified >= ALPHA / 10  # not so careful that it could prove nothing
    assert operate(mirrored(boundary), 1 - p0).certified <= BETA


@pytest.mark.parametrize("p0", THRESHOLDS)
@pytest.mark.parametrize("border", [1, 64])
def test_false_certificates_of_spending(p0, border):
    table = group_sequential_table(geometric_looks(103_231, border), p0, ALPHA, BETA)
    boundary = table.boundary
    forward = operate(without_giving_up(boundary), p0)
    assert forward.certified + forward.lost <= ALPHA
    assert table.error <= ALPHA
    assert table.error == pytest.approx(forward.certified, rel=2e-3)  # the backward way bounds from above
    assert table.error >= forward.certified
    assert forward.certified >= 0.9 * ALPHA
    assert crossing_probability(boundary.looks, mirrored(boundary).certify, 1 - p0) <= BETA


@pytest.mark.parametrize("p0", THRESHOLDS)
def test_false_certificates_of_stages(p0):
    stages = (100, 1_000, 10_000, 120_000)
    boundary = staged_boundary(stages, p0, ALPHA, BETA)
    exact = 1 - np.prod([binom.cdf(u - 1, n, p0) for n, u in zip(stages, boundary.certify, strict=True)])
    assert exact <= ALPHA
    assert operate(without_giving_up(boundary), p0).certified == pytest.approx(exact, rel=1e-6)
    given_up = 1 - np.prod([binom.sf(d, n, p0) for n, d in zip(stages, boundary.abandon, strict=True)])
    assert given_up <= BETA


def test_counts_of_certifyadp():
    boundary = staged_boundary((1_000, 10_000, 125_000), ONE_SIGMA, alpha=0.001, beta=0.0001)
    assert boundary.certify.tolist() == [880, 8_538, 105_607]
    assert (boundary.abandon + 1).tolist() == [795, 8_270, 0]


def test_operate_against_enumeration_of_all_paths():
    """Every sequence of ten votes, by hand."""
    boundary = Boundary(np.array([3, 6, 10]), np.array([3, 5, 7]), np.array([0, 2, -1]))
    p, certified, given_up, votes = 0.6, 0.0, 0.0, 0.0
    for path in range(2**10):
        bits = [(path >> i) & 1 for i in range(10)]
        chance = p ** sum(bits) * (1 - p) ** (10 - sum(bits))
        for n, up, down in zip(boundary.looks, boundary.certify, boundary.abandon, strict=True):
            a = sum(bits[:n])
            if a >= up or a <= down or n == 10:
                certified, given_up = certified + chance * (a >= up), given_up + chance * (a < up)
                votes += chance * n
                break
    done = operate(boundary, p)
    assert (done.certified, done.abandoned, done.expected_votes) == pytest.approx(
        (certified, given_up, votes)
    )


@pytest.mark.parametrize(
    "n, p", [(1, 0.3), (64, 0.5), (5_000, 0.99865), (100_000, 0.84), (50, 0.0), (50, 1.0)]
)
def test_binomial_law_against_the_library(n, p):
    low, law = binomial_law(n, p)
    np.testing.assert_allclose(law, binom.pmf(low + np.arange(law.size), n, p), rtol=1e-9, atol=1e-300)
    assert law.sum() == pytest.approx(1, abs=1e-12)
