"""Simulated clusters obey the laws of real ones, and spend the votes that the product spends."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.report import BEGIN, END
from benchmarks.simulation.costs import DriverCosts, WorkerCosts
from benchmarks.simulation.figure import draw
from benchmarks.simulation.made_up_votes import MadeUpVotes
from benchmarks.simulation.measure import RESULTS
from benchmarks.simulation.measuring.crowd import Crowd
from benchmarks.simulation.measuring.driver import crowd_run
from benchmarks.simulation.measuring.timed_execution import TimedExecution
from benchmarks.simulation.page import MOST_OFF, results
from benchmarks.simulation.recorded_votes import RecordedVotes
from benchmarks.simulation.run import PAGE, SIMULATED
from benchmarks.simulation.scenarios import PROCEDURES, SCENARIOS, procedures
from benchmarks.simulation.simulate import simulate
from benchmarks.simulation.simulated_pool import Clock, SimulatedPool
from benchmarks.simulation.vote_shares import ABSTAINED, ShareHistogram
from scipy.special import ndtr

import smoothcert as sc
from marks import needs_ray
from smoothcert.sampling import Chunk

SIGMA, RADIUS, ALPHA, MOST = 0.5, 0.5, 0.001, 2_000
SHARES = np.array([0.999, 0.6, 0.9, 0.83, 0.95, 0.3, 0.99, 0.86, 0.7, 0.999, 0.5, 0.97])
FREE, VOTE = DriverCosts(), WorkerCosts(vote=0.003)


def plan(name):
    return procedures(RADIUS, MOST)[name].plan(sc.Gaussian(SIGMA), ALPHA)


def simulated(name, workers, driver=FREE, worker=VOTE, images=len(SHARES), batch_size=128):
    votes = MadeUpVotes(np.resize(SHARES, images), 10, seed=3)
    settings = {"workers": workers, "batch_size": batch_size, "driver": driver, "worker": worker}
    return simulate(plan(name), votes, range(images), **settings)


@pytest.mark.parametrize("name", PROCEDURES)
def test_one_worker_whose_driver_costs_nothing_is_never_idle(name):
    alone = simulated(name, 1)
    assert alone.seconds == pytest.approx((alone.votes + alone.wasted) * VOTE.vote, rel=1e-12)
    if name == "fixed":
        assert alone.votes == len(SHARES) * (100 + MOST)
        assert alone.wasted == 0


@pytest.mark.parametrize("name", PROCEDURES)
@pytest.mark.parametrize("workers", [1, 2, 7, 100])
def test_workers_are_at_most_so_many_times_as_fast(name, workers):
    run = simulated(name, workers, worker=WorkerCosts(vote=0.003, job=0.001, delay=0.002))
    assert 0 < run.speed_up < workers
    assert 0 < run.worker_share <= 1


@pytest.mark.parametrize("name", PROCEDURES)
def test_no_number_of_workers_changes_what_is_needed(name):
    needed = {workers: simulated(name, workers).votes for workers in (1, 3, 50)}
    assert len(set(needed.values())) == 1


def test_a_driver_sends_no_more_jobs_than_it_has_time_for():
    driver = DriverCosts(job_sent=0.004, answer=0.006)
    run = simulated("fixed", 200, driver, WorkerCosts(vote=1e-6), images=40, batch_size=64)
    assert run.seconds == pytest.approx(0.01 * run.jobs, rel=0.01)
    assert run.driver_share > 0.99
    assert run.driver_busy == pytest.approx(0.01 * run.jobs)


@pytest.mark.parametrize(
    "cost", ["job_sent", "chunk_sent", "answer", "chunk_taken", "image_opened", "image_written"]
)
def test_every_cost_of_the_driver_is_paid(cost):
    free, dear = simulated("group", 4), simulated("group", 4, DriverCosts(**{cost: 0.05}))
    assert dear.seconds > free.seconds
    assert dear.votes == free.votes
    if cost.startswith("image"):
        assert dear.driver_busy == pytest.approx(0.05 * len(SHARES))


def test_the_same_question_has_the_same_answer():
    assert simulated("sequential", 5) == simulated("sequential", 5)


def test_jobs_of_a_worker_wait_for_each_other_and_travel():
    clock = Clock()
    driver, worker = DriverCosts(job_sent=1.0, answer=2.0), WorkerCosts(vote=0.5, job=3.0, delay=10.0)
    votes = MadeUpVotes(SHARES, 10, seed=0)
    pool = SimulatedPool(clock, 2, driver=driver, worker=worker, votes=votes)
    ends = []
    for number in range(3):
        pool.submit([number], [Chunk(torch.empty(0), 0, "one", number, 64)])
    # Sent at 1, 2 and 3; they arrive 10 later and take 35; the third waits for the first.
    while pool.outstanding:
        (tag, _), *_ = pool.collect()
        ends.append((tag, clock.now))
    assert ends == [(0, 1 + 10 + 35 + 10 + 2), (1, 58 + 2), (2, 46 + 35 + 10 + 2)]
    assert clock.busy == 3 * 1 + 3 * 2


def test_the_first_worker_is_served_first_when_several_have_answered():
    clock = Clock()
    votes = MadeUpVotes(SHARES, 10, seed=0)
    pool = SimulatedPool(clock, 3, driver=FREE, worker=WorkerCosts(vote=1.0), votes=votes)
    for number, size in enumerate((64, 32, 16)):
        pool.submit([number], [Chunk(torch.empty(0), 0, "one", 0, size)])
    clock.wait_until(100.0)
    assert [pool.collect()[0][0] for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_run_lived_through_once_more_spends_what_it_spent(name, tmp_path):
    model = torch.nn.Linear(1, 2).eval()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[-1.0], [1.0]]))
        model.bias.copy_(torch.tensor([0.5, -0.5]))
    pixels = np.linspace(0, 1, 25, dtype=np.float32)[:, None]
    dataset = sc.Dataset.from_arrays(pixels, (pixels[:, 0] > 0.5).astype(np.int64), name="line")
    classifier = sc.SmoothedClassifier(model, sc.Gaussian(SIGMA), 2)
    execution = TimedExecution(sc.LocalExecution(2), 2)
    run = sc.certify(
        classifier,
        dataset,
        procedure=procedures(RADIUS, MOST)[name],
        seed=4,
        out=tmp_path / "run",
        execution=execution,
    )
    votes, spent = RecordedVotes(tmp_path / "run", 2), sum(run.column("samples"))
    again = simulate(plan(name), votes, range(25), workers=2, batch_size=64, driver=FREE, worker=VOTE)
    assert again.votes == spent
    (notes,) = execution.notes
    assert spent <= notes.votes
    assert sum(turn.opened for turn in notes.turns) == sum(turn.written for turn in notes.turns) == 25
    assert sum(turn.taken for turn in notes.turns) == sum(n for turn in notes.turns for n, _ in turn.sent)
    assert all(value >= 0 for value in vars(notes.costs()).values())


def test_made_up_votes_depend_on_their_keys_alone():
    first, second = MadeUpVotes(SHARES, 10, seed=1), MadeUpVotes(SHARES, 10, seed=1)
    keys = [(index, phase, number) for index in (1, 5) for phase in ("a", "b") for number in range(40)]
    there = {key: first.of(*key, 64).tolist() for key in keys}
    assert {key: second.of(*key, 64).tolist() for key in reversed(keys)} == there
    assert all(sum(votes) == 64 for votes in there.values())
    assert max(Counter(map(str, there.values())).values()) < 10
    assert first.of(3, "a", 2, 36).sum() == 36
    assert first.of(3, "a", 2, 36).tolist() == second.of(3, "a", 2, 36).tolist()


def test_made_up_votes_have_the_shares_they_are_given():
    votes = MadeUpVotes([0.7], 10, seed=8)
    counted = sum(votes.of(0, "estimate", number, 64) for number in range(1_000))
    assert counted[0] / 64_000 == pytest.approx(0.7, abs=0.01)
    assert counted[1:] / 64_000 == pytest.approx(np.full(9, 0.3 / 9), abs=0.005)


def test_a_log_becomes_shares(tmp_path):
    log = tmp_path / "log.tsv"
    rows = ["idx\tlabel\tpredict\tradius", "0\t1\t-1\t0.0", "1\t1\t1\t0.05", "2\t1\t1\t0.5", "3\t1\t0\t0.51"]
    log.write_text("\n".join(rows))
    found = ShareHistogram.of_log(log, 0.5, "made up")
    assert (found.abstained, found.images) == (1, 4)
    assert found.counts == (0, 1, *[0] * 8, 2)
    shares = np.sort(found.shares(400, seed=0))
    assert (shares == ABSTAINED).sum() == 100
    assert ((shares > ndtr(0.1)) & (shares < ndtr(0.2))).sum() == 100
    assert ((shares > ndtr(1.0)) & (shares < ndtr(1.1))).sum() == 200


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_published_shares_are_those_of_many_images(scenario):
    assert scenario.histogram.images >= 448
    shares = scenario.histogram.shares(scenario.images, seed=0)
    assert shares.shape == (500,)
    assert ((shares > 0) & (shares < 1)).all()


def test_costs_lie_between_those_measured():
    low, high = DriverCosts(answer=1.0, job_sent=4.0), DriverCosts(answer=3.0, job_sent=4.0)
    measured = {10: low, 110: high}
    assert DriverCosts.between(measured, 60) == replace(low, answer=2.0)
    assert DriverCosts.between(measured, 1) == low
    assert DriverCosts.between(measured, 1_000) == high


@pytest.mark.slow
@needs_ray
def test_a_crowd_of_real_ray_votes_as_simulated():
    votes = MadeUpVotes(SHARES, 10, seed=3)
    with Crowd(3) as crowd:
        crowd.gather(3, votes, 0.003, sleeps=False)
        procedure = procedures(RADIUS, MOST)["group"]
        notes, run = crowd_run(crowd, (1, 4, 4), 10, SIGMA, procedure, len(SHARES), 128)
    assert sum(run.column("samples")) == simulated("group", 3).votes
    assert notes.jobs > 3
    # What was measured; the line through it may well give all to the chunks and nothing to the jobs.
    sent = [seconds for turn in notes.turns for _, seconds in turn.sent]
    assert len(sent) == notes.jobs
    assert min(sent) > 0
    assert notes.processor > 0


def test_simulation_agrees_with_real_runs():
    parts = json.loads(RESULTS.read_text())["parts"]
    if "workers" not in parts:
        pytest.skip("not measured yet: python -m benchmarks.simulation.measure workers")
    runs = parts["workers"]["runs"]
    assert set(runs) == {"1", "2"}
    for found in runs.values():
        assert set(found) == set(PROCEDURES)
        assert all(abs(run["simulated_over_real"]["median"] - 1) <= MOST_OFF for run in found.values())


def test_the_page_shows_what_was_measured_and_simulated(tmp_path):
    measured, cells = json.loads(RESULTS.read_text()), json.loads(SIMULATED.read_text())
    shown = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    assert shown.strip() == results(measured, cells).strip(), "make it again: make simulate"
    draw(cells, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
