"""The three objectives for denoisers against a reference in NumPy, and what they leave alone."""

import numpy as np
import pytest
import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import Denoised
from smoothcert.noise import Gaussian, Laplace
from smoothcert.seeding import generator_for
from smoothcert.training import Moment, NoiseSource, Step
from smoothcert.training.objectives.denoiser_ce import DenoiserCe
from smoothcert.training.objectives.denoiser_mse import DenoiserMse
from smoothcert.training.objectives.denoiser_stability import DenoiserStability
from training import objective_reference as reference

SIGMA, ROWS = 0.5, 6
LABELS = np.array([1, 2, 0, 0, 0, 2])
ALL = [DenoiserMse(), DenoiserCe(), DenoiserStability()]
every_objective = pytest.mark.parametrize("objective", ALL, ids=str)


class Shift(nn.Module):
    """x - tanh(Ax + b): a denoiser of vectors, in one layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(reference.D, reference.D)

    def forward(self, batch):
        return batch - torch.tanh(self.layer(batch))


def the_model():
    classifier = nn.Sequential(
        nn.Linear(reference.D, reference.HIDDEN),
        nn.Tanh(),
        nn.Linear(reference.HIDDEN, reference.CLASSES),
    )
    model = Denoised(Shift(), classifier).double()
    rng = np.random.default_rng(7)
    for weight in model.parameters():
        weight.data = torch.from_numpy(rng.normal(0, 1.0, tuple(weight.shape)))
    return model.train()


def flat(module):
    return np.concatenate([weight.detach().numpy().ravel() for weight in module.parameters()])


def the_images():
    return np.random.default_rng(8).random((ROWS, reference.D))


def the_source(law=None):
    return NoiseSource(law or Gaussian(SIGMA), generator_for(3, 0, "test"))


def the_noise():
    return the_source().offsets(torch.from_numpy(the_images()), 1).numpy()[0]


def cleaned(weights, x):
    size = reference.D**2
    return x - np.tanh(weights[:size].reshape(reference.D, reference.D) @ x + weights[size:])


def squared_error(weights, theta, x, label, noise):
    return np.mean((cleaned(weights, x + noise) - x) ** 2)


def cross_entropy(weights, theta, x, label, noise):
    return -np.log(reference.prob(theta, cleaned(weights, x + noise))[label])


def stability(weights, theta, x, label, noise):
    return cross_entropy(weights, theta, x, reference.logits(theta, x).argmax(), noise)


@pytest.mark.parametrize(
    "objective, name, of_image",
    [
        (ALL[0], "squared_error", squared_error),
        (ALL[1], "cross_entropy", cross_entropy),
        (ALL[2], "stability", stability),
    ],
)
def test_loss_and_gradient(objective, name, of_image):
    model, noise = the_model(), the_noise()
    theta = flat(model.classifier)
    clean = [reference.logits(theta, x).argmax() for x in the_images()]
    assert not np.array_equal(clean, LABELS), "or labels and clean answers could be mixed up unseen"
    parts = objective.loss(
        Step(model, torch.from_numpy(the_images()), torch.from_numpy(LABELS), the_source(), Moment())
    )
    assert list(parts) == [name]
    parts[name].backward()

    def expected(weights):
        return np.mean([of_image(weights, theta, x, LABELS[k], noise[k]) for k, x in enumerate(the_images())])

    at = flat(model.denoiser)
    assert parts[name].item() == pytest.approx(expected(at), abs=1e-6)
    found = np.concatenate([weight.grad.numpy().ravel() for weight in model.denoiser.parameters()])
    np.testing.assert_allclose(found, reference.differences(expected, at), rtol=1e-5, atol=1e-6)
    assert abs(found).max() > 1e-3


@every_objective
def test_the_classifier_gets_no_gradient_and_keeps_its_statistics(objective):
    classifier = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.Flatten(), nn.Linear(16, 4)
    )
    model = Denoised(nn.Sequential(nn.Conv2d(1, 1, 3, padding=1), nn.BatchNorm2d(1)), classifier).train()
    before = {name: value.clone() for name, value in classifier.state_dict().items()}
    images = torch.rand(ROWS, 1, 4, 4, generator=torch.Generator().manual_seed(1))
    one, two = (
        objective.loss(Step(model, images, torch.from_numpy(LABELS), the_source(Laplace(0.2)), Moment()))
        for _ in range(2)
    )
    for name, value in one.items():
        assert value.item() == two[name].item(), "dropout of the frozen classifier is off"
        value.backward()
    assert all(weight.grad is None for weight in classifier.parameters())
    assert all(weight.grad.abs().max() > 0 for weight in model.denoiser[0].parameters() if weight.dim() > 1)
    assert all(torch.equal(value, before[name]) for name, value in classifier.state_dict().items())
    assert int(model.denoiser[1].num_batches_tracked) == 2


@every_objective
def test_two_processes_train_as_one(objective):
    model, images, labels = the_model(), torch.from_numpy(the_images()), torch.from_numpy(LABELS)

    def loss(first, last):
        source = NoiseSource(Gaussian(SIGMA), generator_for(3, 0, "test"), first=first, total=ROWS)
        parts = objective.loss(Step(model, images[first:last], labels[first:last], source, Moment()))
        return torch.stack([*parts.values()]).sum().item() * (last - first) / ROWS

    assert loss(0, 2) + loss(2, ROWS) == pytest.approx(loss(0, ROWS), rel=1e-12)


@every_objective
def test_bfloat16(objective):
    model, images = the_model().float(), torch.from_numpy(the_images()).float()
    with torch.autocast("cpu", torch.bfloat16):
        parts = objective.loss(Step(model, images, torch.from_numpy(LABELS), the_source(), Moment()))
    assert all(value.dtype == torch.float32 and value.isfinite() for value in parts.values())


@every_objective
def test_a_model_without_denoiser_is_refused(objective):
    with pytest.raises(InvalidArgumentError, match="must be a Denoised, got Linear"):
        objective.loss(
            Step(
                nn.Linear(reference.D, 3),
                torch.from_numpy(the_images()),
                torch.from_numpy(LABELS),
                the_source(),
                Moment(),
            )
        )
