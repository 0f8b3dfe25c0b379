"""Cached outputs are what members say; SWEEN's weights are the best there are."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import nn

from smoothcert.data import Dataset
from smoothcert.ensembles import SWEEN_SOLVERS, fit_sween, member_outputs, order_by_noisy_accuracy
from smoothcert.errors import InvalidArgumentError, ModelOutputError, UnknownNameError
from smoothcert.noise import Gaussian


def outputs(members, rows=400, classes=5, scale=1.0, seed=0):
    """Made-up logits of members of different quality, and labels."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, classes, (rows,), generator=generator)
    logits = torch.randn(rows, 1, classes, generator=generator)
    logits[torch.arange(rows), 0, labels] += 1.5
    quality = scale * (1 + torch.arange(members) / members).reshape(1, members, 1)
    return logits + quality * torch.randn(rows, members, classes, generator=generator), labels


def loss(logits, labels, weights):
    """From the definition."""
    chosen = softmax(logits.double().numpy(), axis=2)[np.arange(len(labels)), :, labels.numpy()]
    return -np.log(chosen @ np.asarray(weights)).mean()


@pytest.mark.parametrize("solver", list(SWEEN_SOLVERS))
@pytest.mark.parametrize("members", [1, 2, 5, 20])
@pytest.mark.parametrize("scale", [0.01, 1.0, 10.0])
def test_never_worse_than_equal_weights_or_a_member(solver, members, scale):
    logits, labels = outputs(members, scale=scale)
    fit = fit_sween(logits, labels, solver=solver, draws=4)
    assert min(fit.weights) >= 0
    assert sum(fit.weights) == pytest.approx(1, abs=1e-9)
    assert fit.loss == pytest.approx(loss(logits, labels, fit.weights), abs=1e-9)
    alone = [loss(logits, labels, np.eye(members)[member]) for member in range(members)]
    assert fit.best_member_loss == pytest.approx(min(alone), abs=1e-9)
    assert fit.uniform_loss == pytest.approx(loss(logits, labels, np.full(members, 1 / members)), abs=1e-9)
    if solver == "newton":
        assert fit.gap <= 1e-9
        assert fit.loss <= min(fit.uniform_loss, fit.best_member_loss) + 1e-9
    else:  # descends from equal weights, and is honest about where it stopped
        assert fit.loss <= fit.uniform_loss + 1e-9
        assert fit_sween(logits, labels).loss >= fit.loss - fit.gap - 1e-9


@pytest.mark.parametrize("members", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_weights_of_a_grid_are_better(members, seed):
    logits, labels = outputs(members, rows=150, scale=0.5 + seed, seed=seed)
    fit = fit_sween(logits, labels)
    steps = 100
    points = [
        (a / steps, b / steps, (steps - a - b) / steps)[-members:]
        for a in range(steps + 1 if members == 3 else 1)
        for b in range(steps + 1 - a)
    ]
    values = np.array([loss(logits, labels, point) for point in points if sum(point) > 0.999])
    assert fit.loss <= values.min() + 1e-9
    assert values.min() - fit.loss < 1e-3  # and the best of the grid is near


def test_a_member_that_is_always_wrong_gets_nothing():
    logits, labels = outputs(2)
    wrong = torch.full((len(labels), 1, 5), 0.0)
    wrong[torch.arange(len(labels)), 0, labels] = -1_000.0  # a probability that float64 cannot hold
    fit = fit_sween(torch.cat([logits, wrong], dim=1), labels)
    assert fit.weights[2] == 0
    np.testing.assert_allclose(fit.weights[:2], fit_sween(logits, labels).weights, atol=1e-5)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"logits": torch.zeros(4, 2)}, r"got \(4, 2\) and \(4,\)"),
        ({"labels": torch.zeros(3, dtype=torch.int64)}, r"\(4, 2, 3\) and \(3,\)"),
        ({"logits": torch.full((4, 2, 3), torch.nan)}, "finite"),
        ({"draws": 3}, "draws must divide the 4 rows, got 3"),
        ({"draws": 0}, "draws must divide the 4 rows, got 0"),
    ],
)
def test_outputs_that_do_not_fit_are_refused(change, message):
    given = {"logits": torch.zeros(4, 2, 3), "labels": torch.zeros(4, dtype=torch.int64), **change}
    with pytest.raises(InvalidArgumentError, match=message):
        fit_sween(**given)


def test_an_unknown_solver_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="known: newton, sgd"):
        fit_sween(torch.zeros(4, 2, 3), torch.zeros(4, dtype=torch.int64), solver="adam")


class Shift(nn.Module):
    """Logits that show the noisy image itself."""

    def __init__(self, shift):
        super().__init__()
        self.shift = shift

    def forward(self, batch):
        assert len(batch) >= 16
        return batch + self.shift


def dataset(images=150):
    rng = np.random.default_rng(3)
    return Dataset.from_arrays(rng.random((images, 3), dtype=np.float32), rng.integers(0, 3, images))


def drawn(members, images=None, draws=4, **options):
    generator = torch.Generator().manual_seed(1)
    return member_outputs(
        members, dataset(), Gaussian(0.25), draws=draws, generator=generator, images=images, **options
    )


def test_outputs_are_the_members_answers_to_the_same_noisy_images():
    told = []
    members = [Shift(0.0).eval(), Shift(5.0).eval()]
    logits, labels = drawn(members, on_progress=lambda done, total: told.append((done, total)))
    assert logits.shape == (600, 2, 3)
    assert torch.equal(labels, torch.tensor(dataset().labels).repeat(4))
    torch.testing.assert_close(logits[:, 1], logits[:, 0] + 5.0)
    noise = logits[:, 0] - dataset().batch(range(150)).repeat(4, 1)
    assert abs(float(noise.std()) - 0.25) < 0.02
    assert not torch.equal(noise[:150], noise[150:300])  # every draw is a new one
    assert told[-1] == (600, 600)
    assert told == sorted(told)
    assert torch.equal(drawn(members)[0], logits)
    assert len(drawn(members, images=7)[1]) == 28


def test_members_are_ordered_by_accuracy_and_keep_their_order_on_ties():
    labels = torch.tensor([0, 1, 2, 0])
    right = torch.eye(3)[labels]
    half = right.clone()
    half[:2] = right[:2].roll(1, dims=1)
    logits = torch.stack([half, right, half, right], dim=1)
    assert order_by_noisy_accuracy(logits, labels) == (1, 3, 0, 2)


@pytest.mark.parametrize(
    "members, options, message",
    [
        ([], {}, "at least one classifier"),
        ([Shift(0.0).train()], {}, "member 0 is in train mode"),
        ([Shift(0.0).eval()], {"draws": 0}, "draws must be a positive integer, got 0"),
        ([Shift(0.0).eval()], {"images": 0}, "images must be a positive integer, got 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(members, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        drawn(members, **options)


def test_members_without_an_answer_are_refused():
    with pytest.raises(ModelOutputError, match="NaN or infinite"):
        drawn([Shift(float("nan")).eval()])
