"""Every public function of `bounds` over its whole domain: no NaN, in range, and monotone in the counts."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from smoothcert import bounds
from smoothcert.bounds import (
    MOST_TRIALS,
    Boundary,
    binomial_law,
    check_level,
    clopper_pearson_lower,
    clopper_pearson_upper,
    confidence_sequence_lower,
    confidence_sequence_upper,
    crossing_probability,
    final_votes,
    geometric_looks,
    group_sequential_table,
    log_evidence_above,
    log_evidence_below,
    operate,
    paired_difference_interval,
    runner_up_bounds,
    sequential_boundary,
    shared_vote_level,
    staged_boundary,
    two_way_p_value,
    wrong_class_factor,
)
from smoothcert.errors import InvalidArgumentError

trials = st.integers(1, 10**7)
few_trials = st.integers(1, 2_000)
shares = st.floats(0, 1)
levels = st.floats(1e-12, 0.49)
thresholds = st.floats(0.5, 0.9999)
probabilities = st.floats(1e-9, 1 - 1e-9)


def covered():
    """Names of `bounds` that some test of this file calls."""
    source = Path(__file__).read_text().split("def test_", 1)[1]
    return {name for name in bounds.__all__ if f"{name}(" in source}


def test_every_public_name_is_here():
    records = {"Operation", "SpendingTable"}  # what functions return; Boundary is made by hand below
    assert covered() | records | {"MOST_TRIALS", "MOST_PAIRS"} == set(bounds.__all__)


@settings(max_examples=25)
@given(pairs=st.integers(1, 300), gained=shares, lost=shares, alpha=st.floats(1e-4, 0.5))
def test_interval_of_a_paired_difference(pairs, gained, lost, alpha):
    b = int(gained * pairs)
    c = int(lost * (pairs - b))
    low, high = paired_difference_interval(b, c, pairs, alpha)
    assert -1 <= low <= (b - c) / pairs <= high <= 1
    assert (-high, -low) == paired_difference_interval(c, b, pairs, alpha)
    wider = paired_difference_interval(b, c, pairs, alpha / 4)
    assert wider[0] <= low + 2e-3
    assert wider[1] >= high - 2e-3


@given(n=few_trials, p=probabilities)
def test_law_of_a_count(n, p):
    lowest, law = binomial_law(n, p)
    assert lowest >= 0
    assert lowest + len(law) - 1 <= n
    np.testing.assert_allclose(
        law, binom.pmf(np.arange(lowest, lowest + len(law)), n, p), rtol=1e-9, atol=1e-18
    )


@given(level=levels)
def test_levels(level):
    check_level("alpha", level)
    for wrong in (-level, 1 + level, str(level), complex(level), np.complex128(level)):
        with pytest.raises(InvalidArgumentError, match="alpha is an error probability"):
            check_level("alpha", wrong)


def test_trials_beyond_which_nothing_is_claimed():
    clopper_pearson_lower(1, MOST_TRIALS, 0.001)
    with pytest.raises(InvalidArgumentError, match="trials must be at most"):
        clopper_pearson_lower(1, 2 * MOST_TRIALS, 0.001)


@given(n=trials, share=shares, alpha=levels)
def test_fixed_sample_bounds(n, share, alpha):
    k = int(share * n)
    low, high = clopper_pearson_lower(k, n, alpha), clopper_pearson_upper(k, n, alpha)
    assert 0 <= low <= k / n <= high <= 1
    more = min(k + 1, n)
    assert clopper_pearson_lower(more, n, alpha) >= low
    assert clopper_pearson_upper(more, n, alpha) >= high
    assert clopper_pearson_lower(k, n, alpha / 2) <= low
    assert clopper_pearson_upper(k, n, alpha / 2) >= high


@given(n=trials, share=shares, rest=shares, alpha=levels)
def test_runner_up(n, share, rest, alpha):
    k = int(share * n)
    other = int(rest * (n - k))
    p_lower, q_upper = runner_up_bounds(k, other, n, alpha)
    assert 0 <= p_lower <= 1
    assert 0 <= q_upper <= 1 - p_lower
    p_more, q_fewer = runner_up_bounds(min(k + 1, n), max(other - 1, 0), n, alpha)
    assert p_more >= p_lower
    assert q_fewer <= q_upper


@settings(deadline=None)
@given(n=trials, share=shares, alpha=levels)
def test_confidence_sequence(n, share, alpha):
    k = int(share * n)
    low, high = confidence_sequence_lower(k, n, alpha), confidence_sequence_upper(k, n, alpha)
    assert 0 <= low <= k / n <= high + 1e-12 <= 1 + 1e-12
    assert confidence_sequence_lower(min(k + 1, n), n, alpha) >= low
    assert low <= clopper_pearson_lower(k, n, alpha) + 1e-12  # the price of looking at any time


@given(n=trials, share=shares, p0=probabilities)
def test_evidence(n, share, p0):
    k = int(share * n)
    above, below = log_evidence_above(k, n, p0), log_evidence_below(k, n, p0)
    assert not np.isnan(above)
    assert not np.isnan(below)
    if k < n:  # below 0 it decides nothing, and the tails that it is made of underflow
        assert max(log_evidence_above(k + 1, n, p0), 0) >= max(above, 0) * (1 - 1e-9)
        assert max(log_evidence_below(k + 1, n, p0), 0) <= max(below, 0) * (1 + 1e-9)
    # Not both at once: what speaks strongly for one side does not speak for the other.
    assert min(above, below) <= 1


def check_boundary(boundary, p0, alpha):
    assert ((boundary.certify >= 0) & (boundary.certify <= boundary.looks + 1)).all()
    assert ((boundary.abandon >= -1) & (boundary.abandon < boundary.certify)).all()
    assert (boundary.certify > boundary.looks * p0).all()  # nothing at or below the threshold certifies
    done = operate(boundary, p0)
    assert 0 <= done.certified <= alpha * (1 + 1e-6)
    assert not np.isnan(done.expected_votes)
    assert done.certified + done.abandoned == pytest.approx(1, abs=1e-9)
    assert operate(boundary, min(1.0, p0 + 0.01)).certified >= done.certified - 1e-12


@settings(deadline=None, max_examples=40)
@given(last=few_trials, p0=thresholds, alpha=st.floats(1e-6, 0.2), beta=st.floats(1e-6, 0.2))
def test_sequential_boundaries(last, p0, alpha, beta):
    looks = (*range(64, last, 64), last)
    check_boundary(sequential_boundary(looks, p0, alpha, beta), p0, alpha)


@settings(deadline=None, max_examples=40)
@given(last=few_trials, p0=thresholds, alpha=st.floats(1e-6, 0.2), beta=st.floats(1e-6, 0.2))
def test_group_sequential_tables(last, p0, alpha, beta):
    table = group_sequential_table(geometric_looks(last, 64), p0, alpha, beta)
    check_boundary(table.boundary, p0, alpha)
    assert 0 <= table.error <= alpha
    crossing = crossing_probability(table.boundary.looks, table.boundary.certify, p0)
    assert 0 <= crossing <= alpha
    lower = crossing_probability(table.boundary.looks, table.boundary.certify, p0 - 0.1)
    assert lower <= crossing + 1e-9


@settings(deadline=None, max_examples=40)
@given(
    stages=st.lists(few_trials, min_size=1, max_size=4, unique=True),
    p0=thresholds,
    alpha=st.floats(1e-6, 0.2),
    beta=st.floats(1e-6, 0.2),
)
def test_staged_boundaries(stages, p0, alpha, beta):
    check_boundary(staged_boundary(tuple(sorted(stages)), p0, alpha, beta), p0, alpha)


@settings(deadline=None, max_examples=40)
@given(last=few_trials, p0=st.floats(0.5, 0.999), alpha=st.floats(1e-5, 0.2))
def test_the_price_of_shared_votes(last, p0, alpha):
    looks = (*range(64, last, 64), last)

    def make(level):
        return sequential_boundary(looks, p0, level, 0.01)

    level = shared_vote_level(make, p0, alpha)
    factor = wrong_class_factor(make(level), p0)
    assert 0 < level < alpha
    assert 0 <= factor <= 1
    assert level * (1 + factor) <= alpha
    nowhere = Boundary(np.array([last]), np.array([last + 1]), np.array([-1]))
    assert wrong_class_factor(nowhere, p0) == 0


@given(n=st.integers(1, 10**6), alpha=st.floats(1e-9, 0.5))
def test_looks(n, alpha):
    last = final_votes(n, alpha)
    assert last >= n
    looks = geometric_looks(last, 64)
    assert looks[-1] == last
    assert all(a < b for a, b in pairwise(looks))
    assert all(look % 64 == 0 for look in looks[:-1])
    assert final_votes(n + 1, alpha) >= last


@given(first=st.integers(0, 10**7), second=st.integers(0, 10**7))
def test_prediction_s_test(first, second):
    assume(first + second > 0)
    value = two_way_p_value(first, second)
    assert 0 <= value <= 1
    assert two_way_p_value(first + 1, second) <= value
    assert two_way_p_value(first, second + 1) >= value
    if first <= second:
        assert value == 1
