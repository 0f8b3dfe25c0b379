"""Stopping at will: whoever stops an anytime radius at the worst moment still has a certificate of level alpha."""

import numpy as np
import pytest
from scipy.stats import norm

import smoothcert as sc
from smoothcert.bounds import clopper_pearson_lower
from smoothcert.sampling import Counts
from truth import ALPHA, most_errors

SIGMA, MARGIN, TIMES = 0.25, 0.25, 1_000
P = float(norm.cdf(MARGIN / SIGMA))  # of the half-space, whose true radius is the margin
PROCEDURE = sc.Sequential(max_samples=1_500, n0=100, beta=0.05, tolerance=0.001)
NOISE = sc.Gaussian(SIGMA)


def streams(p=P, times=TIMES, seed=11):
    """Yield the votes at every look of many streams: (chosen by the first, then counts of the class)."""
    plan = PROCEDURE.plan(NOISE, ALPHA)
    looks = np.asarray(plan.phases[1].looks)
    draws = np.random.default_rng(seed)
    for _ in range(times):
        select = int(draws.binomial(plan.phases[0].votes, p))
        yield plan, select, looks, draws.binomial(np.diff(looks, prepend=0), p).cumsum()


def counts(votes, drawn):
    return Counts(np.array([drawn - votes, votes]), int(drawn))


def told(plan, select, looks, votes):
    """Yield what a client is told at every look until the stream ends by itself."""
    decision = plan.start()
    assert not decision.absorb(0, counts(select, plan.phases[0].votes))
    assert decision.so_far() is None  # the votes that choose the class prove nothing
    for number, (drawn, successes) in enumerate(zip(looks, votes, strict=True), start=1):
        decided = decision.absorb(number, counts(int(successes), drawn))
        yield decision.verdict() if decided else decision.so_far()
        if decided:
            return


def stopped_beyond_the_truth(radii):
    """The greediest client stops as soon as the radius exceeds the truth; say whether it ever does."""
    return any(radius > MARGIN for radius in radii)


@pytest.mark.slow
def test_the_greediest_stop_errs_with_probability_alpha_at_most():
    errors = sum(
        stopped_beyond_the_truth([verdict.radius for verdict in told(*stream)]) for stream in streams()
    )
    assert errors <= most_errors(TIMES, ALPHA)


def test_a_fixed_sample_bound_looked_at_at_every_event_fails_the_same_test():
    looks = np.asarray(PROCEDURE.plan(NOISE, ALPHA).phases[1].looks)
    errors = 0
    for _, _, _, votes in streams():
        bounds = np.asarray(clopper_pearson_lower(votes, looks, ALPHA))
        errors += bool((NOISE.radius(bounds) > MARGIN).any())
    assert errors > 2 * most_errors(TIMES, ALPHA)


def test_patience_is_rewarded():
    last = [list(told(*stream))[-1] for stream in streams(times=200)]
    assert np.mean([verdict.radius >= 0.8 * MARGIN for verdict in last]) >= 0.9
    assert all(verdict.outcome is sc.Outcome.CERTIFIED for verdict in last)


def test_radii_never_decrease_and_every_stop_says_its_look():
    for stream in streams(times=50, seed=3):
        verdicts = list(told(*stream))
        radii = [verdict.radius for verdict in verdicts]
        assert radii == sorted(radii)
        for drawn, verdict in zip(stream[2], verdicts, strict=False):
            assert [tally.purpose for tally in verdict.tallies] == ["select", "bound", "stop"]
            assert verdict.tallies[-1].counts.drawn == drawn


def test_a_stop_without_a_majority_abstains():
    stream = next(streams(p=0.5, times=1))
    first = next(told(*stream))
    assert (first.outcome, first.predicted, first.radius) == (sc.Outcome.STOPPED, None, 0.0)


@pytest.mark.parametrize(
    "procedure",
    [
        sc.FixedSample(n0=64, n=128),
        sc.Staged(radius=0.1, stages=(64, 128)),
        sc.Sequential(radius=0.1, max_samples=640, n0=64),
        sc.GroupSequential(radius=0.1, n=640, n0=64),
    ],
    ids=lambda one: one.procedure_name,
)
def test_what_was_planned_to_look_at_a_target_cannot_be_stopped(procedure):
    plan = procedure.plan(NOISE, ALPHA)
    decision, look = plan.start(), 0
    for phase in plan.phases:
        for drawn in phase.looks:
            if decision.absorb(look, counts(int(drawn) * 9 // 10, int(drawn))):
                return
            assert decision.so_far() is None
            look += 1
