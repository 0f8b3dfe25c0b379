"""Simulated costs of images against exact expectations and against the trials that real votes go through."""

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.bounds import operate
from smoothcert.sampling import Counts

NOISE = sc.Gaussian(0.25)


@pytest.mark.parametrize("make", [sc.Sequential, sc.GroupSequential, sc.Staged])
@pytest.mark.parametrize("chance", [0.6, 0.82, 0.95, 1.0])
def test_the_mean_is_the_exact_expectation(make, chance):
    plan = make(radius=0.25).plan(NOISE, 0.001)
    votes = plan.simulated_votes(np.full(2_000, chance), np.random.default_rng(1))
    exact = operate(plan.boundaries[0], chance).expected_votes + (100 if plan.selects else 0)
    assert votes.mean() == pytest.approx(exact, abs=4 * votes.std() / np.sqrt(len(votes)) + 1e-9)


def walked(plan, chance, draws):
    """Votes that a real decision takes, fed with two classes."""
    decision, look, spent = plan.start(), 0, 0
    for phase in plan.phases:
        votes = np.zeros(2, dtype=np.int64)
        for seen, now in zip((0, *phase.looks), phase.looks, strict=False):
            first = draws.binomial(now - seen, chance)
            votes = np.add(votes, [first, now - seen - first])
            if decision.absorb(look, Counts(votes.copy(), now, now)):
                return spent + now
            look += 1
        spent += phase.votes
    raise AssertionError("undecided")


@pytest.mark.parametrize(
    "procedure",
    [
        sc.Sequential(radii=(0.1, 0.25, 0.5), max_samples=3_000),
        sc.Sequential(max_samples=1_000),
        sc.Staged(radius=0.25, stages=(100, 1_000)),
        sc.FixedSample(n=500),
    ],
)
def test_costs_are_those_of_real_trials(procedure):
    plan, draws = procedure.plan(NOISE, 0.001), np.random.default_rng(2)
    for chance in (0.75, 0.9, 0.999):  # the class of most votes is the one chosen
        real = np.array([walked(plan, chance, draws) for _ in range(150)])
        made_up = plan.simulated_votes(np.full(1_500, chance), draws)
        spread = np.hypot(real.std() / np.sqrt(len(real)), made_up.std() / np.sqrt(len(made_up)))
        assert made_up.mean() == pytest.approx(real.mean(), abs=4 * spread + 1)
        assert made_up.max() <= sum(phase.votes for phase in plan.phases)
