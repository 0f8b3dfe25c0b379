"""The networks, images and noise on which objectives are compared with their references."""

import numpy as np
import torch
from torch import nn

from smoothcert.networks import MultiHead
from smoothcert.noise import Gaussian
from smoothcert.seeding import generator_for
from smoothcert.training import NoiseSource
from training import circular_reference, objective_reference

ROWS, SIGMA = 6, 0.5
LABELS = np.array([1, 2, 0, 0, 0, 2])


def plain_network():
    """The reference's network in torch."""
    first = nn.Linear(objective_reference.D, objective_reference.HIDDEN)
    last = nn.Linear(objective_reference.HIDDEN, objective_reference.CLASSES)
    return drawn_weights(nn.Sequential(first, nn.Tanh(), last), 1.5)


def network_of_heads(spread):
    """The reference's network of several heads in torch."""
    reference = circular_reference
    trunk = nn.Sequential(nn.Linear(reference.D, reference.HIDDEN), nn.Tanh())
    heads = [nn.Linear(reference.HIDDEN, reference.CLASSES) for _ in range(reference.HEADS)]
    return drawn_weights(MultiHead(trunk, heads), spread)


def drawn_weights(model, spread):
    """A network in float64 with weights large enough for decided and undecided answers."""
    rng = np.random.default_rng(7)
    model = model.double()
    for weight in model.parameters():
        weight.data = torch.from_numpy(rng.normal(0, spread, tuple(weight.shape)))
    return model


def theta_of(model):
    """All weights in one row, as the references take them."""
    return np.concatenate([weight.detach().numpy().ravel() for weight in model.parameters()])


def the_images(reference):
    images = np.random.default_rng(8).random((ROWS, reference.D))
    images[0, :2] = 0.0, 1.0  # where clamping matters
    return images


def the_source():
    return NoiseSource(Gaussian(SIGMA), generator_for(3, 0, "test"))
