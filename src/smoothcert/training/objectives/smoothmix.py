"""SmoothMix (Jeong et al. 2021): less confidence on the way from an image to its far adversary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.attacks import noisy_logits
from smoothcert.training.checks import check_count
from smoothcert.training.losses.smoothed_probability import copies_cross_entropy, smoothed_probability
from smoothcert.training.losses.smoothmix_mixing import Mixing, divergence_from, draw_shares, mixed_target
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective


@OBJECTIVES.register("smoothmix")
@dataclass(frozen=True)
class SmoothMix(Objective):
    """CE + eta warm mean_i KL(y_mix || F(x_mix + e_i)) over images whose smoothed answer is right.

    x_mix = (1 - l) x + l x_adv and y_mix = (1 - l) z(x) + l / K with l ~ U[0, 1/2] per image; x_adv is T steps of
    the attack away, in no ball. Not a mean over the right images alone: wrong ones add 0 and are counted.
    Gradients flow through y_mix.

    Args:
        m: noisy copies per image.
        steps: gradient steps T of the attack.
        step_size: length alpha of a step, in pixel units.
        eta: weight of the mixed part; it warms up with the moment of training.
        one_step: put the 1-step adversary, at most warm times alpha away, in the place of the clean image.
    """

    moves_images: ClassVar[bool] = True
    summary: ClassVar[str] = "mixes images with far adversaries to temper confidence (Jeong et al. 2021)"
    m: int = 2
    steps: int = 4
    step_size: float = 0.5
    eta: float = 5.0
    one_step: bool = False

    def __post_init__(self) -> None:
        check_count("m", self.m)
        self._mixing()

    @property
    def copies(self) -> int:  # noqa: D102
        return self.m

    @property
    def cost(self) -> float:  # noqa: D102
        return self.m * self._mixing().cost

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        offsets = source.offsets(images, self.m)
        shares = draw_shares(source, images)
        centre, mixed = self._mixing().images(model, images, labels, offsets, shares, warm=moment.warm)
        logits = noisy_logits(model, centre, offsets)
        z = smoothed_probability(logits)
        apart = divergence_from(mixed_target(z, shares), noisy_logits(model, mixed, offsets))
        return {
            "cross_entropy": copies_cross_entropy(logits, labels),
            "mixed": self.eta * moment.warm * (apart * (z.argmax(dim=1) == labels)).mean(),
        }

    def _mixing(self) -> Mixing:
        return Mixing(self.steps, self.step_size, self.eta, self.one_step)
