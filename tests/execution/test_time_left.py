"""The time left of a run whose hard images end last: real decisions on made-up votes, by a made-up clock."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.execution.time_left import TimeLeft
from smoothcert.sampling import ChunkVotes, ImageSampling

PACE, OPEN = 10_000, 8  # votes per second; images under way at a time


class Clock:
    """Seconds that pass as votes are drawn."""

    now = 0.0

    def __call__(self):
        return self.now


def course(procedure, chances, seed=5):
    """Certify images of these probabilities; return rows (time left as told, by images done, true time left)."""
    plan, clock, draws = procedure.plan(sc.Gaussian(0.25), 0.001), Clock(), np.random.default_rng(seed)
    left = TimeLeft(plan, len(chances), clock)
    waiting, open_, drawn, done, told = list(enumerate(chances)), [], 0, 0, []
    while waiting or open_:
        while waiting and len(open_) < OPEN:
            index, chance = waiting.pop(0)
            image = torch.zeros(1)
            open_.append((chance, ImageSampling(index, image, plan.phases, plan.start(), 2)))
        for chance, sampling in list(open_):
            chunk = sampling.next_chunk()
            votes = draws.binomial(chunk.votes, chance)
            counted = np.array([[votes, chunk.votes - votes]])
            sampling.take(chunk, ChunkVotes(counted, np.array([chunk.votes]), 0.0, None))
            drawn += chunk.votes
            if sampling.decided:
                open_.remove((chance, sampling))
                left.decided(sampling.votes_counted)
                done += 1
        clock.now = drawn / PACE
        left.drawn(drawn)
        under_way = [(sampling.leading, sampling.votes_counted) for _, sampling in open_]
        by_images = clock.now / done * (len(chances) - done) if done else None
        told.append((left.seconds(under_way), by_images, clock.now))
    return [(found, by_images, clock.now - then) for found, by_images, then in told]


def population(images):
    """Most images are easy, as in practice; some lie anywhere, so that a few are near the threshold of .841."""
    draws = np.random.default_rng(2)
    return np.where(draws.random(images) < 0.7, 0.995, draws.uniform(0.3, 1, images)).tolist()


def test_images_that_all_take_the_same_are_told_to_the_second():
    told = course(sc.FixedSample(n0=100, n=10_000), [0.9] * 20)
    assert all(found == pytest.approx(truth, abs=1e-6) for found, _, truth in told)


@pytest.mark.parametrize("procedure, factor", [(sc.Sequential(radius=0.25), 6), (sc.Staged(radius=0.25), 3)])
def test_hard_images_are_reckoned_with_before_they_end(procedure, factor):
    """Counting images says that nearly all is over while most votes are still to be drawn, those of the hard ones."""
    told = course(procedure, population(150))
    whole = told[0][2]
    halfway = [row for row in told if 0.1 * whole < row[2] < 0.7 * whole]
    assert len(halfway) > 50
    assert all(truth / factor < found < factor * truth for found, _, truth in halfway)
    assert any(by_images < truth / 20 for _, by_images, truth in halfway)


def test_what_is_told_at_first_is_not_exceeded_by_much_later():
    """Counting images promises little and then more and more; here the first word may be too long, not too short."""
    told = course(sc.Staged(radius=0.25), population(150))
    whole = told[0][2]
    after = [row for row in told if row[2] < 0.9 * whole]
    assert max(found for found, _, _ in after) < 1.3 * after[0][0] < 3 * whole
    assert after[0][1] < whole / 3


def test_nothing_is_told_before_the_first_vote():
    left = TimeLeft(sc.FixedSample(n=100).plan(sc.Gaussian(0.25), 0.001), 3, Clock())
    assert left.seconds([]) is None
    assert left.seconds([(0, 0)]) is None


def test_the_pace_is_that_of_the_last_seconds():
    """Ten seconds at 1,000 votes a second, then eleven at 10: an image of 1,100 votes takes 110 seconds."""
    clock = Clock()
    left = TimeLeft(sc.FixedSample(n0=100, n=1_000).plan(sc.Gaussian(0.25), 0.001), 10, clock)
    for second in range(1, 22):
        clock.now = second
        left.drawn(1_000 * second if second <= 10 else 10_000 + 10 * (second - 10))
    for _ in range(9):
        left.decided(1_100)
    assert left.seconds([(0, 0)]) == pytest.approx(110)


def test_images_whose_votes_exceed_all_made_up_ones_are_nearly_decided():
    clock = Clock()
    left = TimeLeft(sc.FixedSample(n0=100, n=1_000).plan(sc.Gaussian(0.25), 0.001), 1, clock)
    clock.now = 1.0
    left.drawn(64)
    assert left.seconds([(5_000, 5_000)]) == pytest.approx(1.0)
