"""Gaps follow their law for a linear network, and do not depend on how many are drawn."""

import numpy as np
import pytest
import torch
from scipy.stats import kstest, norm
from torch import nn

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.theory import log_probability_gaps


class Linear(nn.Module):
    """Three classes; the second and third are never nearer than the first pair."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))

    def forward(self, batch):
        logits = batch @ self.weight.T
        return torch.stack([logits[:, 0], logits[:, 1], logits[:, 1] - 1.0], dim=1)


def gaps_of(**options):
    image = torch.tensor([0.8, 0.5])
    given = {"copies": 4000, "seed": 3, "index": 7, **options}
    return log_probability_gaps(Linear().eval(), sc.Gaussian(0.5), image, 0, **given)


def test_gaps_of_a_linear_network_have_their_normal_law():
    found = gaps_of()
    mean, deviation = 2 * 0.8 - 0.5, 0.5 * np.sqrt(5)
    assert kstest(found.gaps, norm(mean, deviation).cdf).pvalue > 0.01
    assert kstest(found.gaps, norm(mean + 0.15, deviation).cdf).pvalue < 1e-4  # the test can fail
    share, truth = found.misclassified, norm.cdf(-mean / deviation)
    assert abs(share - truth) < 4 * np.sqrt(truth * (1 - truth) / 4000)


def test_gaps_are_the_difference_of_log_probabilities():
    model, image = Linear().eval(), torch.tensor([0.8, 0.5])
    found = log_probability_gaps(model, sc.Gaussian(1e-4), image, 1, copies=3)
    logs = model(image[None]).log_softmax(dim=1)[0]
    assert found.gaps == pytest.approx((logs[1] - max(logs[0], logs[2])).item(), abs=2e-3)
    assert found.misclassified == 1.0


def test_more_copies_keep_the_first_and_another_seed_draws_others():
    few, many = gaps_of(copies=100), gaps_of(copies=300)
    assert np.array_equal(few.gaps, many.gaps[:100])
    assert not np.array_equal(few.gaps, gaps_of(copies=100, seed=4).gaps)
    assert len(few.gaps) == 100


def test_refusals():
    with pytest.raises(InvalidArgumentError, match="copies"):
        gaps_of(copies=0)
    image = torch.tensor([0.8, 0.5])
    with pytest.raises(InvalidArgumentError, match="label"):
        log_probability_gaps(Linear().eval(), sc.Gaussian(0.5), image, 3, copies=10)
    with pytest.raises(ModelOutputError, match="NaN"):
        log_probability_gaps(lambda batch: batch * torch.nan, sc.Gaussian(0.5), image, 0, copies=10)
