"""What a procedure sees never depends on the order in which chunks come back."""

import json
import random

import numpy as np
import pytest
import torch

from smoothcert.arguments import usable_cores
from smoothcert.engines import CallableEngine
from smoothcert.noise import Gaussian
from smoothcert.sampling import (
    Chunk,
    ImageSampling,
    Phase,
    Sampler,
    WorkerPool,
    chunk_borders,
)
from smoothcert.sampling.image_sampling import LOOKAHEAD
from smoothcert.sampling.schedule import run_schedule

PHASES = (Phase("select", (100,)), Phase("estimate", chunk_borders(3_000)))


class Recorder:
    """Decides at a given look and remembers everything it was shown."""

    def __init__(self, last):
        self.last, self.seen = last, []

    def absorb(self, look, counts):
        self.seen.append((look, counts.drawn, counts.votes.tolist(), counts.evaluations))
        return look == self.last


def sign(batch):
    return torch.stack([-batch[:, 0], batch[:, 0]], dim=1)


def sampler(batch_size=1_000):
    return Sampler(CallableEngine(sign, 2, torch.zeros(1)), Gaussian(1.0), seed=3, batch_size=batch_size)


def new_sampling(last, index=0):
    recorder = Recorder(last)
    return ImageSampling(index, torch.tensor([0.3]), PHASES, recorder, 2), recorder


def walk(sampling, shuffle=None):
    """Draw whatever the sampling asks for, handing chunks back in order or shuffled."""
    source, pending = sampler(), []
    while not sampling.decided or pending:
        while (chunk := sampling.next_chunk()) is not None:
            pending.append(chunk)
        chunk = pending.pop(shuffle.randrange(len(pending)) if shuffle else 0)
        sampling.take(chunk, source.draw([chunk])[0])
    return sampling


@pytest.mark.parametrize("last", [0, 1, 5, 40, 47])
def test_looks_are_the_same_whatever_the_order(last):
    sampling, expected = new_sampling(last)
    walk(sampling)
    for seed in range(3):
        other, recorder = new_sampling(last)
        walk(other, random.Random(seed))
        assert recorder.seen == expected.seen
        assert other.votes_counted == sampling.votes_counted


def test_every_look_sees_exactly_the_votes_of_its_phase():
    sampling, recorder = new_sampling(last=47)
    walk(sampling)
    assert [(look, drawn) for look, drawn, _, _ in recorder.seen] == [
        (0, 100),
        *((1 + k, n) for k, n in enumerate(PHASES[1].looks)),
    ]
    source = sampler()
    running = np.zeros(2, dtype=np.int64)
    for number in range(PHASES[1].chunks):
        part = Chunk(torch.tensor([0.3]), 0, "estimate", number, PHASES[1].chunk_votes(number))
        running += source.draw([part])[0].votes[0]
        assert recorder.seen[1 + number][2] == running.tolist()
    assert sampling.votes_counted == 3_100


@pytest.mark.parametrize("last", range(1, 48, 5))
def test_votes_beyond_the_deciding_look_are_few_and_dropped(last):
    sampling, recorder = new_sampling(last)
    walk(sampling, random.Random(last))
    assert sampling.wasted <= recorder.seen[-1][1] // LOOKAHEAD + 64
    assert sampling.votes_counted == 100 + recorder.seen[-1][1]


@pytest.mark.parametrize("stop_after", [1, 3, 10, 30])
def test_a_restored_sampling_continues_where_it_was(stop_after):
    expected, whole = new_sampling(last=30)
    walk(expected)
    sampling, recorder = new_sampling(last=30)
    source = sampler()
    for _ in range(stop_after):
        chunk = sampling.next_chunk()
        sampling.take(chunk, source.draw([chunk])[0])
    saved = json.loads(json.dumps(sampling.snapshot()))
    again, later = new_sampling(last=30)
    again.restore(saved)
    assert again.votes_counted == sampling.votes_counted
    assert later.seen == recorder.seen  # looked at once more, from the votes alone
    walk(again)
    assert later.seen == whole.seen
    assert again.packed_votes == expected.packed_votes
    assert again.evaluations == expected.evaluations
    assert again.votes_counted == expected.votes_counted
    assert again.votes_counted == expected.votes_counted


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("batch_size", [50, 64, 1_000])
def test_many_images_share_batches_and_see_their_own_votes(workers, batch_size):
    lasts = [(7 * i) % 48 for i in range(25)]
    with WorkerPool(lambda: sampler(batch_size), workers) as pool:
        made = [new_sampling(last, index) for index, last in enumerate(lasts)]
        done = list(run_schedule((j for j, _ in made), pool, batch_size=batch_size))
    assert sorted(j.index for j in done) == list(range(25))
    for (_, recorder), index, last in zip(made, range(25), lasts, strict=True):
        alone, expected = new_sampling(last, index)
        walk(alone)
        assert recorder.seen == expected.seen


def test_batches_are_full_while_images_finish():
    sizes = []

    def watching(batch):
        sizes.append(len(batch))
        return sign(batch)

    def make():
        return Sampler(CallableEngine(watching, 2, torch.zeros(1)), Gaussian(1.0), seed=3, batch_size=640)

    with WorkerPool(make, 1) as pool:
        list(run_schedule((new_sampling(1 + i % 3, i)[0] for i in range(300)), pool, batch_size=640))
    assert np.mean(sizes) > 0.85 * 640


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_reaches_the_caller_and_settings_are_put_back(workers):
    before = torch.get_num_threads()

    def broken(batch):
        raise RuntimeError("the model broke")

    def make():
        return Sampler(CallableEngine(broken, 2, torch.zeros(1)), Gaussian(1.0), seed=3, batch_size=64)

    with pytest.raises(RuntimeError, match="the model broke"), WorkerPool(make, workers) as pool:
        list(run_schedule([new_sampling(5)[0]], pool, batch_size=64))
    assert torch.get_num_threads() == before


def test_one_single_threaded_worker_per_core():
    threads = []

    def watching(batch):
        threads.append(torch.get_num_threads())
        return sign(batch)

    def make():
        return Sampler(CallableEngine(watching, 2, torch.zeros(1)), Gaussian(1.0), seed=3, batch_size=64)

    with WorkerPool(make, 2) as pool:
        list(run_schedule([new_sampling(47, i)[0] for i in range(4)], pool, batch_size=64))
    assert set(threads) == {1}
    assert usable_cores() >= 1


def test_pools_that_fail_in_a_hurry_never_hang():
    """Leaving must not wait for a job that a worker took in the meantime."""

    def broken(batch):
        raise RuntimeError("at once")

    def make():
        return Sampler(CallableEngine(broken, 2, torch.zeros(1)), Gaussian(1.0), seed=3, batch_size=64)

    for _ in range(60):
        with pytest.raises(RuntimeError, match="at once"), WorkerPool(make, 4) as pool:
            list(run_schedule((new_sampling(5, i)[0] for i in range(40)), pool, batch_size=64))


def test_pools_in_two_threads_leave_the_thread_setting_as_they_found_it():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first, second = WorkerPool(sampler, 1), WorkerPool(sampler, 1)
        with first:
            second.__enter__()
        assert torch.get_num_threads() == 1
        second.__exit__(None, None, None)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
