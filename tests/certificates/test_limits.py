"""Numbers beyond all use are refused at once, and those within it are not laid out one by one."""

import contextlib
import tracemalloc

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.bounds import operate
from smoothcert.certificates.prediction import PredictionPlan
from smoothcert.errors import InvalidArgumentError
from smoothcert.sampling import CHUNK_VOTES, check_batch_size, check_workers, chunk_borders

NOISE = sc.Gaussian(0.5)
HUGE = 10**8
MANY_DIGITS = pytest.param(10**5_000, id="many digits")  # more than Python writes out


@pytest.mark.parametrize("votes", [10**8 + 1, 10**30, MANY_DIGITS, 0, -1, 1.0, "9", None, True, float("nan")])
@pytest.mark.parametrize(
    "make",
    [
        lambda n: sc.FixedSample(n=n),
        lambda n: sc.FixedSample(n0=n),
        lambda n: sc.Staged(radius=0.5, stages=(n,)),
        lambda n: sc.Sequential(radius=0.5, max_samples=n),
        lambda n: sc.Sequential(max_samples=n),
        lambda n: sc.GroupSequential(radius=0.5, n=n),
        lambda n: PredictionPlan(n, 0.001),
    ],
)
def test_a_number_of_votes_beyond_use_is_refused(make, votes):
    with pytest.raises(
        InvalidArgumentError, match=r"integer number of votes, at least 1, got|at most 100,000,000 votes, got"
    ):
        make(votes)


@pytest.mark.parametrize("radius", [1e10, float("inf"), float("nan"), -1.0, 10**400, "1", None])
def test_a_radius_beyond_use_is_refused(radius):
    with pytest.raises(InvalidArgumentError, match=r"finite number >= 0|at most 1e\+09"):
        sc.GroupSequential(radius=radius)
    with pytest.raises(InvalidArgumentError, match=r"finite number >= 0|at most 1e\+09"):
        sc.Sequential(radii=[0.25, radius])


@pytest.mark.parametrize(
    "radii", ["0,1", 0.5, [], (), [0.1] * 257, range(10**12), (i / 9 for i in iter(int, 1))]
)
def test_a_list_of_radii_beyond_use_is_refused(radii):
    with pytest.raises(InvalidArgumentError, match="radii must"):
        sc.Sequential(radii=radii)


@pytest.mark.parametrize("stages", ["100", 100, [], range(1, 66), None])
def test_stages_beyond_use_are_refused(stages):
    with pytest.raises(InvalidArgumentError, match="stages must"):
        sc.Staged(radius=0.5, stages=stages)


@pytest.mark.parametrize(
    "level", [float("1e-400"), 1e-101, 0, 1, -0.5, 2, float("nan"), "0.1", None, 10**400, True]
)
def test_a_level_beyond_use_is_refused(level):
    for make in (sc.FixedSample().plan, sc.Sequential(radius=0.5).plan, sc.GroupSequential(radius=0.5).plan):
        with pytest.raises(InvalidArgumentError, match="alpha is an error probability"):
            make(NOISE, level)
    with pytest.raises(InvalidArgumentError, match="beta is an error probability"):
        sc.Staged(radius=0.5, beta=level)


def test_every_plan_at_the_least_level_is_made_or_refused_by_name():
    for procedure in (
        sc.Staged(0.5),
        sc.Sequential(radius=0.1, n0=0),
        sc.GroupSequential(0.5),
        sc.FixedSample(),
    ):
        for alpha in (1e-100, 3e-100, 0.999):
            with contextlib.suppress(InvalidArgumentError):
                procedure.plan(NOISE, alpha)


@pytest.mark.parametrize("workers", [0, -1, 1_025, 100_000, MANY_DIGITS, 1.5, "2", True])
def test_workers_beyond_use_are_refused(workers):
    with pytest.raises(InvalidArgumentError, match="positive integer, at most 1,024"):
        check_workers(workers)


@pytest.mark.parametrize("rows", [0, -1, 10**9, 10**30, 1.5, "64", True])
def test_batches_beyond_use_are_refused(rows, classifier, digits):
    with pytest.raises(
        InvalidArgumentError, match=r"batch_size must be (a positive integer of|at most 16,777,216) rows"
    ):
        classifier.certify(digits.image(0), sc.FixedSample(n0=64, n=64), batch_size=rows)


def test_a_batch_may_always_hold_a_chunk():
    class Picture:
        def numel(self):
            return 10**9

    assert check_batch_size(CHUNK_VOTES, Picture(), None) == CHUNK_VOTES


@pytest.mark.parametrize("votes", [1, 64, 65, 3_000, 120_000, 2**20 - 1, 2**20, 2**20 + 1])
def test_up_to_a_million_votes_every_border_is_a_look(votes):
    assert chunk_borders(votes) == (*range(CHUNK_VOTES, votes, CHUNK_VOTES), votes)


def test_beyond_a_million_votes_looks_are_a_thousandth_apart():
    looks = np.array(chunk_borders(HUGE))
    assert looks[-1] == HUGE
    assert looks.size < 25_000
    assert (looks[:-1] % CHUNK_VOTES == 0).all()
    steps = np.diff(looks)
    assert (steps > 0).all()
    assert (steps <= np.maximum(CHUNK_VOTES, looks[:-1] / 1_000 + CHUNK_VOTES)).all()


@pytest.mark.parametrize(
    "procedure",
    [
        sc.FixedSample(n=HUGE),
        sc.Staged(radius=0.5, stages=(100, HUGE)),
        sc.Sequential(max_samples=HUGE),
        sc.Sequential(radius=0.5, max_samples=HUGE),
        sc.Sequential(radii=[i / 256 for i in range(256)], max_samples=HUGE),
    ],
    ids=lambda procedure: procedure.procedure_name,
)
def test_a_plan_for_the_most_votes_is_small(procedure):
    tracemalloc.start()
    plan = procedure.plan(NOISE, 0.001)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 * 2**20
    assert plan.phases[-1].votes == HUGE
    assert sum(len(phase.looks) for phase in plan.phases) < 25_000


def test_a_table_that_would_take_minutes_is_refused():
    with pytest.raises(InvalidArgumentError, match="use a smaller n or alpha, or the procedure Sequential"):
        sc.GroupSequential(radius=0.5, n=HUGE).plan(NOISE, 0.001)
    with pytest.raises(InvalidArgumentError, match="use a smaller n or alpha"):
        sc.GroupSequential(radius=0.5, n=10**6).plan(NOISE, 0.999)  # 200 million votes at the last look


@pytest.mark.slow
def test_a_boundary_with_thin_looks_keeps_its_error():
    """Exact, over the looks up to two million votes: just below the target at most alpha is certified."""
    plan = sc.Sequential(radius=0.5, max_samples=2 * 10**6).plan(NOISE, 0.001)
    assert operate(plan.boundaries[0], plan.thresholds[0]).certified <= 0.001


def test_boundaries_of_a_grid_are_made_when_they_are_asked_for():
    plan = sc.Sequential(radii=(0.25, 0.5, 0.75)).plan(NOISE, 0.001)
    alone = sc.Sequential(radius=0.75, n0=0).plan(NOISE, 0.001)
    assert len(plan.boundaries) == 3
    last = plan.boundaries[-1]
    assert last is plan.boundaries[2] is tuple(plan.boundaries)[2] is plan.boundaries[1:][1]
    assert (
        last.certify >= alone.boundaries[0].certify
    ).all()  # it also pays for the class at the smallest radius
    with pytest.raises(IndexError):
        plan.boundaries[3]


def test_the_cost_of_the_most_votes_is_reckoned_with():
    plan = sc.Sequential(radius=0.5, max_samples=HUGE).plan(NOISE, 0.001)
    chances, generator = np.array([0.99, plan.thresholds[0]]), np.random.default_rng(0)
    easy, hard = plan.simulated_votes(chances, generator)
    assert easy < 1_000 < hard <= HUGE
