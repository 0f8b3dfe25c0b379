"""Rival: IBM's adversarial-robustness-toolbox, `PyTorchRandomizedSmoothing.certify` as it comes.

All n noisy copies are made first (in double precision), then run through a data loader in batches of 32, the
default of `certify`. So its memory grows with n: about 20 bytes per value, 1.6 GB at n = 100,000 on 28x28.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.measure import Claim, Draw, timed, whole_batches
from benchmarks.networks import Network
from benchmarks.settings import N0, NUM_CLASSES, SIGMA


class ArtRival:
    """ART's smoothed classifier around a network; not tuned beyond what its constructor asks for.

    Args:
        model: the network, in eval mode.
        input_shape: shape of one image.
        sigma: standard deviation of the noise, in pixel units.
        num_classes: number of logits.
        n0: votes that choose the class, ART's `sample_size`.
        alpha: error probability, one-sided.
    """

    def __init__(
        self,
        model: nn.Module,
        input_shape: tuple[int, ...],
        *,
        sigma: float,
        num_classes: int,
        n0: int = 100,
        alpha: float = 0.001,
    ) -> None:
        self.n0 = n0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about optional packages
            from art.estimators.certification.randomized_smoothing import PyTorchRandomizedSmoothing

            self._classifier: Any = PyTorchRandomizedSmoothing(
                model=model,
                loss=nn.CrossEntropyLoss(),  # asked for, not used: nothing is trained
                input_shape=input_shape,
                nb_classes=num_classes,
                clip_values=(0.0, 1.0),  # bounds for attacks; noisy images are not clipped
                device_type="cpu",
                sample_size=n0,
                scale=sigma,
                alpha=alpha,
            )

    @property
    def network(self) -> nn.Module:
        """The module that ART calls: its wrapper, which runs the layers of a sequential network by itself."""
        found: nn.Module = self._classifier._model
        return found

    def certify(self, image: torch.Tensor, n: int) -> Claim:
        """Return ART's answer for one image from n0 + n votes, in its default batch.

        Args:
            image: one image.
            n: votes that bound the class.
        """
        predictions, radii = self._classifier.certify(image.unsqueeze(0).numpy(), n=n)
        predicted = int(np.asarray(predictions)[0])
        return Claim(None if predicted < 0 else predicted, float(radii[0]), self.n0 + n)


def art_draw(network: Network, seconds: float) -> Draw:
    """Return a certification by ART that takes about so many seconds.

    Args:
        network: to certify an image with.
        seconds: of one certification, aimed at.
    """
    art = ArtRival(network.model, tuple(network.image.shape), sigma=SIGMA, num_classes=NUM_CLASSES, n0=N0)
    drawn, took = timed(lambda: art.certify(network.image, N0).votes)
    n = whole_batches(seconds * drawn / took, 32)
    return lambda: art.certify(network.image, n).votes
