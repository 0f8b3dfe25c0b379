"""The range of a run's cost, from both sides: it holds the run, and is narrow enough to be of use."""

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.bounds import operate
from smoothcert.execution import Pilot, deepened, first_votes, forecast, simulate_runs

NOISE = sc.Gaussian(1.0)
_MADE = np.random.default_rng(5)
POPULATIONS = {
    "spread": _MADE.beta(2, 1, 300),
    "sure": 1 - 0.9 * _MADE.beta(0.3, 6, 300),
    "in doubt": np.clip(_MADE.normal(0.84, 0.05, 300), 0, 1),
}
PLANS = {
    "group": sc.GroupSequential(radius=1.0).plan(NOISE, 0.001),
    "staged": sc.Staged(radius=1.5).plan(NOISE, 0.001),
}
TRIALS = 20


def counted(chances, votes, draws):
    """Votes for four classes, the first of which has the chances."""
    first = draws.binomial(votes, chances)
    second = draws.binomial(votes - first, 1 / 3)
    third = draws.binomial(votes - first - second, 1 / 2)
    return np.stack([first, second, third, votes - first - second - third], axis=1)


def tried(chances, plan, votes, draws):
    """A pilot of as many images as the votes allow."""
    each = first_votes(plan)
    order = draws.permutation(len(chances))[: max(votes // each, 1)]
    left = [votes - each * len(order)]

    def draw(places, more, number):
        left[0] -= more * len(places)
        return counted(chances[order[places]], more, draws)

    first = counted(chances[order], each, draws)
    return deepened(first, each, len(chances), plan, draw, lambda: left[0])


def bootstrapped(pilot, plan, draws):
    """The known unsound twin: shares taken for the truth, the images tried for all images."""
    shares = np.clip(pilot.leading / pilot.drawn, 0.004, 0.996)
    cost = {p: operate(plan.boundaries[0], p).expected_votes for p in np.unique(shares)}
    costs = np.array([cost[p] for p in shares]) + (100 if plan.selects else 0)
    means = costs[draws.integers(len(costs), size=(400, len(costs)))].mean(axis=1)
    return np.quantile(means, [0.025, 0.975])


def trials(name, plan, votes, count=TRIALS, twin=False):
    """Costs of runs, and their ranges, or those of the twin."""
    chances, found = POPULATIONS[name], []
    for seed in range(2_000, 2_000 + count):
        draws = np.random.default_rng(seed)
        run = plan.simulated_votes(chances, draws).mean()
        pilot = tried(chances, plan, votes, draws)
        told = forecast(simulate_runs(pilot), plan)
        found.append((run, *(bootstrapped(pilot, plan, draws) if twin else (told.low, told.high))))
    return np.array(found).T


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_range_holds_the_run_and_is_of_use(name):
    """Four trials of each cell; with twenty, which take minutes, 95% held in all and 17 in the worst cell."""
    held, narrow = {}, {}
    for label, plan in PLANS.items():
        for votes in (20_000, 300_000):  # a second, and what five seconds draw of a small model
            run, low, high = trials(name, plan, votes, count=4)
            held[label, votes] = ((low <= run) & (run <= high)).mean()
            narrow[label, votes] = np.median(high / low)
    assert np.mean([*held.values()]) >= 0.9, held
    assert min(held.values()) >= 0.75, held
    assert max(ratio for (_, votes), ratio in narrow.items() if votes == 300_000) < 6, narrow
    assert max(narrow.values()) < 100, narrow


@pytest.mark.slow
def test_the_twin_fails_the_same_test():
    run, low, high = trials("sure", PLANS["group"], 4_000, twin=True)
    assert ((low <= run) & (run <= high)).mean() < 0.8


@pytest.mark.slow
def test_one_trial_of_each_population_holds_the_run():
    for name in POPULATIONS:
        run, low, high = trials(name, PLANS["group"], 20_000, count=1)
        assert low <= run <= high


def test_no_image_like_another_leaves_the_range_wide():
    plan = PLANS["group"]
    one = Pilot(500, np.array([128]), np.array([128]))
    told = forecast(simulate_runs(one), plan)
    assert told.low < 200
    assert told.high > 50_000


def test_a_plan_that_cannot_stop_early_has_one_cost():
    told = forecast(
        simulate_runs(Pilot(50, np.array([100, 128]), np.array([128, 128]))),
        sc.FixedSample().plan(NOISE, 0.001),
    )
    assert (told.low, told.mean, told.high) == (100_100, 100_100, 100_100)


def test_images_piled_up_at_the_threshold_are_not_smoothed_away():
    # A tenth of the images lie where nothing is ever decided: 10,300 votes per image. Each image's own few votes, taken
    # alone, say a third of that.
    plan, draws = PLANS["group"], np.random.default_rng(0)
    chances = np.where(np.arange(500) < 50, float(NOISE.threshold(1.0)), 0.99)
    told = forecast(simulate_runs(tried(chances, plan, 64_000, draws)), plan)
    assert told.high > 8_000


def test_the_same_votes_give_the_same_range():
    pilot = Pilot(300, np.array([100, 110, 128]), np.array([128, 128, 128]))
    assert forecast(simulate_runs(pilot), PLANS["group"]) == forecast(simulate_runs(pilot), PLANS["group"])


def test_further_votes_go_to_costly_images_and_stay_within_the_budget():
    plan, asked = PLANS["group"], []

    def draw(places, votes, number):
        asked.append((len(places), votes))
        return np.tile([[votes * 84 // 100, votes - votes * 84 // 100]], (len(places), 1))

    first = np.array([[128, 0]] * 30 + [[108, 20]] * 10)
    budget = [10 * 384 + 5 * 1_536]

    def left():
        return budget[0] - sum(images * votes for images, votes in asked)

    pilot = deepened(first, 128, 40, plan, draw, left)
    assert asked == [(10, 384), (5, 1_536)]
    assert (pilot.drawn[:30] == 128).all()
    assert sorted(pilot.drawn[30:].tolist()) == [512] * 5 + [2_048] * 5


@pytest.mark.parametrize("radius", [1.0, 2.0, 3.0])
def test_first_votes_are_what_a_sure_image_takes_within_limits(radius):
    plan = sc.GroupSequential(radius=radius).plan(NOISE, 0.001)
    boundary = plan.boundaries[0]
    sure = int(boundary.looks[np.argmax(boundary.certify <= boundary.looks)])
    assert first_votes(plan) == min(max(sure, 128), 1_024)
