"""Counting on a device and in NumPy give the same votes."""

import numpy as np
import pytest
import torch

from smoothcert.engines import TorchEngine
from smoothcert.ensembles import Panel, VotingEnsemble
from smoothcert.errors import ModelOutputError
from smoothcert.noise import Gaussian
from smoothcert.sampling import Chunk, Sampler, no_class
from smoothcert.sampling.chunk import ImagesOnDevice
from smoothcert.sampling.counting import count_votes

CLASSES = 5
SIZES = [64, 10, 1, 33]


def engine(answers):
    members = [torch.nn.Identity() for _ in range(answers - 1)]
    model = Panel(VotingEnsemble(members)).eval() if members else torch.nn.Identity().eval()
    return TorchEngine(model, CLASSES, torch.zeros(CLASSES))


def batches(answers, doubtful):
    """Logits of all rows in two batches, with ties, and NaN and infinities in some."""
    shape = (sum(SIZES), answers, CLASSES)
    logits = torch.randint(0, 3, shape, generator=torch.Generator().manual_seed(answers)).float()
    if doubtful:
        logits[5, 0, 1], logits[70, -1, 4], logits[107, 0] = float("nan"), float("inf"), float("-inf")
    logits = logits if answers > 1 else logits[:, 0]
    return [logits[:50], logits[50:]]


def both(answers, doubtful, on_nan):
    parts = batches(answers, doubtful)
    return [
        count_votes(given, SIZES, engine(answers), on_nan)
        for given in ([part.numpy().ravel() for part in parts], parts)
    ]


@pytest.mark.parametrize("answers", [1, 3])
@pytest.mark.parametrize("doubtful, on_nan", [(False, "raise"), (False, "count"), (True, "count")])
def test_both_ways_agree_with_each_other_and_with_a_loop(answers, doubtful, on_nan):
    (in_numpy, single_votes), (on_device, their_single_votes) = both(answers, doubtful, on_nan)
    np.testing.assert_array_equal(in_numpy, on_device)
    np.testing.assert_array_equal(single_votes, their_single_votes)
    logits = torch.cat(batches(answers, doubtful)).reshape(-1, answers, CLASSES).tolist()
    expected = np.zeros((len(SIZES), answers, CLASSES), dtype=np.int64)
    single = np.full((sum(SIZES), answers), no_class(CLASSES))
    row = 0
    for chunk, size in enumerate(SIZES):
        for _ in range(size):
            for answer, values in enumerate(logits[row]):
                if np.isfinite(values).all():
                    expected[chunk, answer, values.index(max(values))] += 1
                    single[row, answer] = values.index(max(values))
            row += 1
    np.testing.assert_array_equal(in_numpy, expected)
    np.testing.assert_array_equal(single_votes, single)


@pytest.mark.parametrize("way", [0, 1])
def test_both_ways_refuse_nan_with_the_same_words(way):
    parts = batches(1, doubtful=True)
    given = parts if way else [part.numpy().ravel() for part in parts]
    with pytest.raises(ModelOutputError, match="the model answered 3 of 108 noisy images with NaN"):
        count_votes(given, SIZES, engine(1), "raise")


def test_a_sampler_that_counts_on_the_device_draws_the_same_votes(monkeypatch):
    """The path of a GPU, with the CPU in its place."""
    chunks = [Chunk(torch.linspace(0, 1, CLASSES), 0, "estimate", i, 64 - i) for i in range(5)]

    def draw():
        return Sampler(engine(3), Gaussian(0.5), seed=2, batch_size=128).draw(chunks)

    expected = draw()
    monkeypatch.setattr(Sampler, "_kept", lambda self, logits, passes: (logits.clone(), passes))
    for one, other in zip(expected, draw(), strict=True):
        np.testing.assert_array_equal(one.votes, other.votes)
        np.testing.assert_array_equal(one.evaluations, other.evaluations)
        np.testing.assert_array_equal(one.classes, other.classes)


def test_images_are_moved_once_each():
    there = ImagesOnDevice(torch.device("meta"))
    first, second = torch.rand(3), torch.rand(3)
    moved = there.of_all([Chunk(first, 0, "estimate", 0, 64)])[0]
    assert moved.device.type == "meta"
    assert there.of_all([Chunk(first, 0, "estimate", 1, 64)])[0] is moved
    assert (
        there.of_all([Chunk(second, 0, "estimate", 1, 64)])[0] is not moved
    )  # another image at the same place
    for index in range(2_000):
        there.of_all([Chunk(first, index, "estimate", 0, 64)])[0]
    assert len(there._moved) <= 256
    assert ImagesOnDevice(torch.device("cpu")).of_all([Chunk(first, 0, "estimate", 0, 64)])[0] is first
