"""Engines are measured side by side: in turns, warm, the least of several rounds."""

from types import SimpleNamespace

import pytest
import torch

import smoothcert as sc
from smoothcert.engines import stopwatch


class Timed:
    """Takes the next of the times it was given, in seconds per vote."""

    best_rows, example = 128, torch.zeros(4)

    def __init__(self, name, clock, *seconds):
        self.name, self.clock, self.seconds = name, clock, list(seconds)

    def checked(self, batch):
        assert batch.shape == (128, 4)
        assert torch.get_num_threads() == 1
        self.clock.asked.append(self.name)
        self.clock.now += self.seconds.pop(0) * len(batch)


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=0.0, asked=[])
    clock.process_time = lambda: clock.now
    monkeypatch.setattr(stopwatch, "time", clock)
    return clock


def measured(rounds, *engines):
    return stopwatch.seconds_per_vote({one.name: one for one in engines}, sc.Gaussian(0.5), rounds)


def test_the_least_of_several_warm_rounds_counts(clock):
    one, two = Timed("one", clock, 99, 3, 2, 4), Timed("two", clock, 1, 5, 3, 3)
    threads = torch.get_num_threads()
    assert measured(3, one, two) == pytest.approx({"one": 2, "two": 3})
    assert clock.asked == ["one", "two"] * 4
    assert torch.get_num_threads() == threads


def test_the_hopeless_are_not_asked_again(clock):
    one, two = Timed("one", clock, 1, 1, 1, 1), Timed("two", clock, 1, 9)
    assert measured(3, one, two) == pytest.approx({"one": 1, "two": 9})
    assert clock.asked == ["one", "two", "one", "two", "one", "one"]


def test_the_stream_of_no_vote_is_touched(clock):
    with torch.random.fork_rng(devices=[]):
        before = torch.get_rng_state()
        measured(1, Timed("one", clock, 1, 1))
        assert torch.equal(torch.get_rng_state(), before)
