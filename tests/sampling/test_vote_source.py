"""The one driver: what is drawn for whom, and what happens when whoever takes it stops."""

import numpy as np
import pytest
import torch

from smoothcert.engines import CallableEngine
from smoothcert.errors import UnsoundModelError
from smoothcert.noise import Gaussian
from smoothcert.sampling import Decision, ImageSampling, Phase, VoteSource

IMAGE = torch.tensor([0.3])


class Counted(Decision):
    """Keeps the votes and is content with them."""

    def absorb(self, look, counts):
        self.counts = counts
        return True

    def verdict(self):
        return self.counts.votes.tolist()


def sign(batch):
    return torch.stack([-batch[:, 0], batch[:, 0]], dim=1)


def source(model=sign):
    engine = CallableEngine(model, 2, IMAGE)
    return VoteSource(
        engine=engine,
        noise=Gaussian(1.0),
        seed=3,
        on_nan="raise",
        first_phase="estimate",
        planned_votes=10_000,
    )


def sampling(index):
    return ImageSampling(index, IMAGE, (Phase("estimate", (200,)),), Counted(), 2)


def draw(votes, samplings, on_decided, workers=1, batch_size=64):
    pool = votes.workers_here(workers, batch_size)
    votes.draw(samplings, pool, batch_size=batch_size, on_decided=on_decided)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_sampling_is_handed_on_once_with_the_votes_of_its_keys(workers):
    taken = []
    draw(source(), map(sampling, range(7)), taken.append, workers=workers, batch_size=128)
    assert sorted(one.index for one in taken) == list(range(7))
    for one in taken:
        stream, counted = source().sampler(64), np.zeros(2, dtype=np.int64)
        alone = sampling(one.index)
        for _ in range(4):
            counted += stream.draw([alone.next_chunk()])[0].votes[0]
        assert one.decision.verdict() == counted.tolist()


def test_after_an_interruption_in_a_callback_the_control_question_is_asked():
    """What was handed on before Ctrl-C stays, so the model must still be the one that gave it."""
    asked = []

    def drifting(batch):
        return sign(batch) + (5.0 if asked else 0.0) * torch.tensor([1.0, 0.0])

    def interrupted(one):
        asked.append(one.index)
        raise KeyboardInterrupt

    with pytest.raises(UnsoundModelError, match="otherwise than before the first vote"):
        draw(source(drifting), [sampling(0)], interrupted)
    assert asked == [0]
    asked.clear()
    with pytest.raises(KeyboardInterrupt):
        draw(source(), [sampling(0)], interrupted)
