"""What the piece of evidence `end_to_end` rests on: shares found again from radii, and images that have them."""

import numpy as np
import pytest
import torch
from benchmarks import cohen_loop
from benchmarks.networks import planted_images
from benchmarks.settings import SIGMA
from benchmarks.speed_table import ART
from evidence import end_to_end, p_a_cifar10_resnet110
from torch import nn

import smoothcert as sc


class Answer(nn.Module):
    """A network that always says class 9."""

    def forward(self, batch):
        return torch.full((len(batch), 10), -5.0).index_fill(1, torch.tensor([9]), 5.0)


def test_shares_are_found_again_from_the_radii_of_their_votes():
    votes = np.array([51_000, 84_134, 97_000, 99_990, 100_000])
    lower = sc.bounds.clopper_pearson_lower(votes, 100_000, 0.001)
    radii = sc.Gaussian(p_a_cifar10_resnet110.SIGMA).radius(lower)
    found = p_a_cifar10_resnet110.shares_behind(np.array([0.0, *radii]))
    assert found.tolist() == [0.5, *(votes / 100_000)]


@pytest.mark.parametrize("p", [0.5, 0.84, 0.97])
def test_an_outvoted_network_has_the_planned_shares(p):
    (image,) = torch.from_numpy(planted_images([p], SIGMA, end_to_end.SHAPE))
    assert 0 <= image.min() <= image.max() <= 1
    torch.manual_seed(0)
    counts = cohen_loop.count_votes(
        end_to_end.outvoted(Answer()), image, 4_000, 500, sigma=SIGMA, num_classes=10
    )
    assert counts[:2].sum() == 4_000
    assert abs(int(counts[1]) - 4_000 * p) < 5 * np.sqrt(4_000 * p * (1 - p))


def test_the_factor_is_that_of_seconds_per_image():
    def piece(images, seconds):
        return {"images": images, "votes": 10 * images, "seconds": seconds}

    rounds = [{ART: piece(1, art), end_to_end.INT8: piece(50, 10.0)} for art in (30.0, 50.0)]
    found = end_to_end.summed(rounds)
    factor = found["times_faster_than_art"][end_to_end.INT8]
    assert factor["whole"] == pytest.approx(200.0)
    assert (factor["rounds"]["low"], factor["rounds"]["high"]) == pytest.approx((150.0, 250.0))
    assert found["goal"]["reached"]
    assert not end_to_end.summed(rounds[:1])["goal"]["reached"]
