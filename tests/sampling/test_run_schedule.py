"""The scheduler decides when votes are drawn, never which; and draws few in vain."""

import numpy as np
import pytest
import torch

from smoothcert.engines import TorchEngine
from smoothcert.noise import Gaussian
from smoothcert.sampling import (
    CHUNK_VOTES,
    ImageFault,
    ImageSampling,
    Phase,
    Sampler,
    WorkerPool,
    chunk_borders,
)
from smoothcert.sampling import schedule as scheduler
from smoothcert.sampling.image_sampling import LOOKAHEAD
from smoothcert.sampling.schedule import run_schedule

PHASES = (Phase("select", (100,)), Phase("estimate", chunk_borders(6_000)))
LASTS = [(11 * i) % 90 for i in range(40)]
JOBS = {"smallest": 1e-9, "as measured": scheduler.JOB_SECONDS, "largest": 1e9}


def sign():
    model = torch.nn.Linear(1, 2, bias=False).eval()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[-1.0], [1.0]]))
    return model


class Recorder:
    """Decides at a given look and remembers what it was shown."""

    def __init__(self, last):
        self.last, self.seen = last, []

    def absorb(self, look, counts):
        self.seen.append((look, counts.drawn, counts.votes.tolist(), counts.evaluations))
        return look == self.last


class WatchedPool(WorkerPool):
    """Remembers the jobs that were handed in and the chunks that came back."""

    def __init__(self, workers, batch_size):
        def make():
            engine = TorchEngine(sign(), 2, torch.zeros(1))
            return Sampler(engine, Gaussian(1.0), seed=3, batch_size=batch_size)

        super().__init__(make, workers)
        self.jobs, self.most_outstanding = [], 0

    def submit(self, tags, chunks):
        super().submit(tags, chunks)
        self.jobs.append([(chunk.index, chunk.phase, chunk.number) for chunk in chunks])
        self.most_outstanding = max(self.most_outstanding, self.outstanding)


def run(workers=1, batch_size=256, lasts=LASTS, on_batch=None, on_open=lambda index: None):
    """Return the pool, the samplings in order, and what each was shown."""
    recorders = [Recorder(last) for last in lasts]
    made = [ImageSampling(i, torch.tensor([0.3]), PHASES, one, 2) for i, one in enumerate(recorders)]

    def opened():
        for index, sampling in enumerate(made):
            on_open(index)
            yield sampling

    with WatchedPool(workers, batch_size) as pool:
        ended = list(run_schedule(opened(), pool, batch_size=batch_size, on_batch=on_batch))
    assert sorted(sampling.index for sampling in ended) == list(range(len(lasts)))
    return pool, made, [one.seen for one in recorders]


@pytest.fixture(scope="module")
def expected():
    """What each image is shown if its chunks are drawn one at a time, in order, and nothing ahead."""
    sampler = WatchedPool(1, 64)._make()
    found = []
    for index, last in enumerate(LASTS):
        one = Recorder(last)
        sampling = ImageSampling(index, torch.tensor([0.3]), PHASES, one, 2)
        while not sampling.decided:
            chunk = sampling.next_chunk()
            sampling.take(chunk, sampler.draw([chunk])[0])
        found.append(one.seen)
    return found


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("batch_size", [16, 64, 200, 1_000])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_same_votes_whatever_the_jobs(workers, batch_size, job, expected, monkeypatch):
    monkeypatch.setattr(scheduler, "JOB_SECONDS", JOBS[job])
    assert run(workers, batch_size)[2] == expected


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("workers", [1, 3])
def test_no_chunk_is_drawn_twice_and_waste_is_bounded(workers, job, monkeypatch):
    monkeypatch.setattr(scheduler, "JOB_SECONDS", JOBS[job])
    pool, samplings, seen = run(workers)
    drawn = [chunk for job in pool.jobs for chunk in job]
    assert len(set(drawn)) == len(drawn)
    for sampling, shown in zip(samplings, seen, strict=True):
        votes = sum(
            next(p for p in PHASES if p.name == phase).chunk_votes(number)
            for index, phase, number in drawn
            if index == sampling.index
        )
        assert votes == sampling.votes_counted + sampling.wasted  # dropped from the backlog: never drawn
        assert sampling.wasted < shown[-1][1] / LOOKAHEAD + CHUNK_VOTES


def test_chunks_of_a_decided_image_are_dropped_before_they_are_drawn(monkeypatch):
    """One image with all it may issue in the backlog: with jobs of one chunk, most of it is never drawn."""
    monkeypatch.setattr(scheduler, "JOB_SECONDS", 1e-9)
    phases = (Phase("estimate", chunk_borders(64 * 400)),)
    sampling = ImageSampling(0, torch.tensor([0.3]), phases, Recorder(320), 2)
    with WatchedPool(1, 64) as pool:
        assert list(run_schedule([sampling], pool, batch_size=64)) == [sampling]
    assert sampling.wasted <= 2 * CHUNK_VOTES  # what one worker has been given: under way, and ready
    assert sampling.votes_counted // LOOKAHEAD > 10 * CHUNK_VOTES


@pytest.mark.parametrize("workers", [1, 2])
def test_no_small_jobs_while_images_wait(workers):
    opened = []
    sizes_while_waiting = []
    submit = WatchedPool.submit

    def watching(self, tags, chunks):
        if len(opened) < 400:
            sizes_while_waiting.append(len(chunks))
        submit(self, tags, chunks)

    WatchedPool.submit = watching
    try:
        run(workers, 256, lasts=[1 + i % 3 for i in range(400)], on_open=opened.append)
    finally:
        WatchedPool.submit = submit
    assert len(sizes_while_waiting) > 5
    assert min(sizes_while_waiting) >= 256 // CHUNK_VOTES


def test_jobs_grow_with_the_time_they_are_meant_to_take(monkeypatch):
    means = []
    for seconds in (1e-9, 1e9):
        monkeypatch.setattr(scheduler, "JOB_SECONDS", seconds)
        pool, _, _ = run(1, 64, lasts=[90] * 20)
        means.append(np.mean([len(job) for job in pool.jobs]))
        assert max(len(job) for job in pool.jobs) <= 16
    assert means[0] == 1
    assert means[1] > 8


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_have_one_job_under_way_and_one_ready(workers):
    pool, _, _ = run(workers)
    assert pool.most_outstanding == 2 * workers


@pytest.mark.parametrize("workers", [1, 2])
def test_few_images_are_open_at_a_time(workers, monkeypatch):
    """No more than chunks that are under way or ready, because the open ones go first."""
    monkeypatch.setattr(scheduler, "JOB_SECONDS", 1e-9)
    seen = []
    run(workers, 64, lasts=[40] * 40, on_batch=lambda under_way: seen.append(len(under_way)))
    assert 0 < max(seen) <= 4 * workers


@pytest.mark.parametrize("workers", [1, 2])
def test_on_batch_is_told_after_every_job_about_the_open_samplings(workers):
    calls = []
    pool, _, _ = run(workers, on_batch=lambda under_way: calls.append([j.decided for j in under_way]))
    assert len(calls) == len(pool.jobs)
    assert not any(decided for call in calls for decided in call)
    assert calls[-1] == []


class FaultyPool(WatchedPool):
    """Brings a fault for every chunk of image 0, as if the model could not answer it."""

    def collect(self):
        fault = ImageFault(RuntimeError("too dark"))
        return [(tag, fault if tag[1].index == 0 else votes) for tag, votes in super().collect()]


def test_faults_alone_do_not_make_jobs_grow():
    """They take no time that tells what votes take; a job after one would else be as large as can be."""
    bad, good = (ImageSampling(i, torch.tensor([0.3]), PHASES, Recorder(5), 2) for i in range(2))
    with FaultyPool(1, 64) as pool:
        first, second = run_schedule((bad, good), pool, batch_size=64)
    assert first is bad
    assert str(first.fault.error) == "too dark"
    assert second.decided
    assert [len(job) for job in pool.jobs][:2] == [1, 1]
