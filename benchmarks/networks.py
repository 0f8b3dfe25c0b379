"""The networks that are timed: random weights, sane activations; and one whose probabilities are known.

A forward pass takes as long with random weights as with trained ones, so nothing is downloaded or trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from torch import nn
from torch.nn import functional

import smoothcert as sc
from benchmarks.settings import NUM_CLASSES

CIFAR_MEAN, CIFAR_STD = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)
_LARGEST_MARGIN = 4.5  # in sigma; p = 1 would need an image outside [0, 1]


@dataclass(frozen=True)
class Network:
    """A network in eval mode and one image for it."""

    name: str
    model: nn.Module
    image: torch.Tensor


def settle(model: nn.Module, input_shape: tuple[int, ...], *, passes: int = 4, rows: int = 64) -> nn.Module:
    """Set the batch norms' running statistics by forward passes on noise, and return the model in eval mode.

    Untouched statistics let the activations of a deep residual network grow without bound.

    Args:
        model: a network just made.
        input_shape: shape of one image.
        passes: forward passes averaged over.
        rows: images per pass.
    """
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm2d)]
    before = [layer.momentum for layer in norms]
    for layer in norms:
        layer.momentum = None  # a plain average over the passes
    model.train()
    with torch.no_grad():
        for _ in range(passes if norms else 0):
            model(torch.rand(rows, *input_shape) + 0.5 * torch.randn(rows, *input_shape))
    for layer, momentum in zip(norms, before, strict=True):
        layer.momentum = momentum
    return model.eval()


def lenet() -> nn.Module:
    """Return LeNet for 28x28 images."""
    return settle(sc.create_model("lenet", num_classes=NUM_CLASSES), (1, 28, 28))


def resnet(depth: int) -> nn.Module:
    """Return a residual network for 32x32 images, normalised as on CIFAR-10."""
    model = sc.create_model(f"resnet{depth}", num_classes=NUM_CLASSES, mean=CIFAR_MEAN, std=CIFAR_STD)
    return settle(model, (3, 32, 32))


def resnet50() -> nn.Module:
    """Return a residual network for 224x224 images of 1,000 classes."""
    return settle(sc.create_model("resnet50", num_classes=1_000), (3, 224, 224), passes=1, rows=16)


NETWORKS: dict[str, tuple[tuple[int, ...], Callable[[], nn.Module]]] = {
    "lenet": ((1, 28, 28), lenet),
    "resnet20": ((3, 32, 32), lambda: resnet(20)),
    "resnet110": ((3, 32, 32), lambda: resnet(110)),
    "resnet50": ((3, 224, 224), resnet50),
    "ensemble5": ((3, 32, 32), lambda: sc.VotingEnsemble([resnet(20) for _ in range(5)])),
}


def load(name: str) -> Network:
    """Make a network of `NETWORKS` with the same random weights every time."""
    shape, make = NETWORKS[name]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Network(name, make(), torch.rand(shape))


class Planted(nn.Module):
    """A network whose votes follow a plan: its whole cost, but the mean brightness decides the class.

    An image of n values and brightness 1/2 + m/sqrt(n) gets class 1 with probability Phi(m/sigma) under Gaussian
    noise; see `planted_images`. The network's own logits still enter, too small to matter, so no engine can leave
    them out.

    Args:
        network: whose cost is paid.
        shift: added to every margin m, in pixel units: two networks disagree between their boundaries.
    """

    def __init__(self, network: nn.Module, shift: float = 0.0) -> None:
        super().__init__()
        self.network, self.shift = network, shift

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return ten logits, of which the first two compete."""
        pixels = batch.flatten(1)
        score = (pixels.mean(dim=1) - 0.5) * pixels.shape[1] ** 0.5 + self.shift
        sides = functional.pad(torch.stack([-score, score], dim=1), (0, NUM_CLASSES - 2), value=-1.0)
        own: torch.Tensor = self.network(batch)
        return sides + 1e-6 * own


def planted_images(p: ArrayLike, sigma: float, shape: tuple[int, ...] = (1, 28, 28)) -> NDArray[np.float32]:
    """Return images to which a `Planted` network gives class 1 with probabilities p under the noise.

    Args:
        p: one probability per image.
        sigma: standard deviation of the noise, in pixel units.
        shape: of one image.
    """
    margins = sigma * np.clip(ndtri(np.asarray(p, dtype=np.float64)), -_LARGEST_MARGIN, _LARGEST_MARGIN)
    brightness = (0.5 + margins / np.prod(shape) ** 0.5).astype(np.float32)
    return np.broadcast_to(brightness[:, None, None, None], (len(brightness), *shape)).copy()
