"""Votes of many requests in one batch: each gets its own, in turns, and one fault does not end the service."""

import threading
from types import SimpleNamespace

import pytest
import torch

import smoothcert as sc
from smoothcert.certificates import PredictionPlan
from smoothcert.errors import EngineDisagreementError
from smoothcert.sampling import Chunk, ImageSampling, Sampler, WorkerPool, run_schedule
from smoothcert.serve.drawing.live_sampling import LiveSampling
from smoothcert.serve.drawing.schedule import Schedule

IMAGE = torch.linspace(0, 1, 64).reshape(1, 8, 8)


def sampling(votes, seed):
    plan = PredictionPlan(votes, 0.001)
    return ImageSampling(0, IMAGE, plan.phases, plan.start(), 10, seed=seed)


class Waiting:
    """A live sampling, and how it ended."""

    def __init__(self, votes, seed):
        self.ended, self.error = threading.Event(), None
        self.live = LiveSampling(sampling(votes, seed), on_end=self.ended.set, on_fault=self._fault)

    def _fault(self, error):
        self.error = error
        self.ended.set()

    def counts(self):
        assert self.ended.wait(60)
        assert self.error is None
        return self.live.sampling.decision.verdict().counts


def test_chunks_of_several_seeds_in_one_batch_are_those_of_their_seeds(model):
    source = model.base
    chunks = [Chunk(IMAGE, 0, "predict", number, 64, seed) for seed in (5, 6, None) for number in range(2)]
    together = source.sampler(1_024).draw(chunks)
    for chunk, votes in zip(chunks, together, strict=True):
        seed = source.seed if chunk.seed is None else chunk.seed
        alone = Sampler(source.engine, source.noise, seed=seed, batch_size=64).draw(
            [Chunk(IMAGE, 0, "predict", chunk.number, 64)]
        )
        assert (alone[0].classes == votes.classes).all()
    assert (together[0].classes != together[2].classes).any()


def test_requests_share_batches_and_get_the_votes_of_their_own_seed(model, pace, monkeypatch):
    seeds_of_batches, draw = [], Sampler.draw

    def watched(self, chunks):
        seeds_of_batches.append({chunk.seed for chunk in chunks})
        return draw(self, chunks)

    monkeypatch.setattr(Sampler, "draw", watched)
    pace.hold(0)
    schedule = Schedule(model.base, "digits", workers=1, batch_size=1_024)
    asked = [Waiting(100, seed) for seed in range(1, 9)]
    for one in asked:
        schedule.submit(one.live)
    pace.free()
    found = [one.counts() for one in asked]
    schedule.close()
    assert max(map(len, seeds_of_batches)) > 1
    assert len(seeds_of_batches) < len(asked)
    for seed, counts in enumerate(found, start=1):
        alone = model.classifier.predict(IMAGE, 100, 0.001, seed=seed, engine="torch", workers=1)
        assert counts.drawn == 100
        assert alone in (None, counts.top)


def test_one_with_few_votes_does_not_wait_for_one_with_many(model):
    order = []
    with WorkerPool(lambda: model.base.sampler(256), 1) as pool:
        samplings = [sampling(20_000, 1), sampling(100, 2)]
        for done in run_schedule(iter(samplings), pool, batch_size=256, turns=True):
            order.append(done.seed)
    assert order == [2, 1]


def broken(errors, seed=None):
    """Return a source whose sampler raises these, one by one, and then works, but for chunks of one seed."""
    left = list(errors)

    def draw(chunks):
        if left:
            raise left.pop(0)
        if seed in [chunk.seed for chunk in chunks if chunk.seed is not None]:
            raise ValueError("this image")
        return [
            SimpleNamespace(seconds=0.0, votes=votes(chunk), evaluations=[0], classes=None)
            for chunk in chunks
        ]

    def votes(chunk):
        counted = torch.zeros((1, 10), dtype=torch.int64)
        counted[0, 3] = chunk.votes
        return counted.numpy()

    engine = SimpleNamespace(shareable=True, example=IMAGE)
    return SimpleNamespace(sampler=lambda rows: SimpleNamespace(engine=engine, draw=draw))


def test_a_fault_ends_what_is_under_way_and_nothing_else():
    schedule = Schedule(broken([ValueError("once")]), "x", workers=1, batch_size=64)
    first, second = Waiting(64, 1), Waiting(64, 2)
    schedule.submit(first.live)
    assert first.ended.wait(60)
    assert str(first.error) == "once"
    schedule.submit(second.live)
    assert second.counts().top == 3
    schedule.close()
    late = Waiting(64, 3)
    schedule.submit(late.live)
    assert "closing" in str(late.error)


def test_an_image_that_the_model_cannot_answer_fails_alone():
    schedule = Schedule(broken([], seed=2), "x", workers=1, batch_size=1_024)
    asked = [Waiting(640, seed) for seed in (1, 2, 3)]
    for one in asked:
        schedule.submit(one.live)
    assert [asked[place].counts().drawn for place in (0, 2)] == [640, 640]
    assert asked[1].ended.wait(60)
    assert str(asked[1].error) == "this image"
    schedule.close()


def test_workers_that_cannot_be_made_end_the_schedule():
    schedule = Schedule(SimpleNamespace(sampler=lambda rows: 1 / 0), "x", workers=1, batch_size=64)
    schedule._thread.join(60)
    late = Waiting(64, 1)
    schedule.submit(late.live)
    assert isinstance(late.error, ZeroDivisionError)
    schedule.close()


def test_an_unsound_model_is_asked_no_more():
    schedule = Schedule(broken([EngineDisagreementError("differs")]), "x", workers=1, batch_size=64)
    first, second = Waiting(64, 1), Waiting(64, 2)
    schedule.submit(first.live)
    assert first.ended.wait(60)
    schedule.submit(second.live)
    assert isinstance(second.error, EngineDisagreementError)
    assert isinstance(schedule.fault, EngineDisagreementError)
    schedule.close()


def test_what_nobody_waits_for_ends_with_the_next_chunk():
    schedule = Schedule(broken([]), "x", workers=1, batch_size=64)
    left = Waiting(10**7, 1)
    left.live.leave()
    schedule.submit(left.live)
    assert left.ended.wait(60)
    assert not left.live.sampling.decided
    assert left.live.sampling.votes_counted < 10**6
    schedule.close()


def test_a_seed_of_a_chunk_is_one_of_the_certification(model, digits):
    certification = model.certification(sc.FixedSample(n0=64, n=64), 0.001, seed=77)
    chunk = certification.sampling(0, digits.image(0)).next_chunk()
    assert (chunk.seed, chunk.index, chunk.phase) == (77, 0, "select")


@pytest.mark.parametrize("seed", [0, 255, 256, 2**127 + 256])
def test_spot_checks_depend_on_the_seed(seed):
    from smoothcert.sampling.comparison import is_spot_check

    numbers = [n for n in range(512) if is_spot_check(Chunk(IMAGE, 0, "estimate", n, 64, seed))]
    assert len(numbers) == 1
