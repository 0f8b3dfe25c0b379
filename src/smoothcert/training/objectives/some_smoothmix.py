"""SOME on SmoothMix (Fang et al., Eq. (11)): the mix comes from the heads' mean, every head learns from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.networks import MultiHead
from smoothcert.training.checks import check_choice, check_switch
from smoothcert.training.losses.circular_teaching import (
    CircularTeaching,
    copies_head_logits,
    smoothed_losses,
    with_heads,
)
from smoothcert.training.losses.heads_apart import HeadsApart
from smoothcert.training.losses.smoothed_probability import smoothed_probability
from smoothcert.training.losses.smoothmix_mixing import Mixing, divergence_from, draw_shares, mixed_target
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment

AVERAGES = ("logits", "softmax")


@OBJECTIVES.register("some-smoothmix")
@dataclass(frozen=True)
class CircularSmoothMix(CircularTeaching):
    """Weighted cross entropy and mixed part of every head, and the cosine penalty.

    x_adv climbs the smoothed loss of the heads' mean, whose z makes y_mix; KL(y_mix || F^k(x_mix + e_i)) is each
    head's own. Not limited to images whose z is right, as SmoothMix is: the published code drops that mask.
    Gradients flow through y_mix.

    Args:
        steps: gradient steps T of the attack.
        step_size: length alpha of a step, in pixel units.
        eta: weight of the mixed part; it warms up with the moment of training.
        one_step: put the 1-step adversary, at most warm times alpha away, in the place of the clean image.
        mask: let the mixed part of images that z gets wrong be 0, as in SmoothMix.
        average: the heads' mean, of their "logits", which is the classifier that is certified; or of their
            "softmax", the attack then climbing the mean of the heads' smoothed losses, as the published code does.

    The other settings are those of `CircularTeaching`.
    """

    moves_images: ClassVar[bool] = True
    summary: ClassVar[str] = "heads trained by SmoothMix teach each other in a circle (SOME)"
    steps: int = 4
    step_size: float = 0.5
    eta: float = 5.0
    one_step: bool = False
    mask: bool = False
    average: str = "logits"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_switch("mask", self.mask)
        check_choice("average", self.average, AVERAGES)
        self._mixing()

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
        network = with_heads(model)
        offsets = source.offsets(images, self.m)
        shares = draw_shares(source, images)
        centre, mixed = self._images(network, images, labels, offsets, shares, moment.warm)
        logits = copies_head_logits(network, centre + offsets)
        z = self._smoothed_answer(logits)
        target = mixed_target(z, shares)
        answers = copies_head_logits(network, mixed + offsets)
        apart = torch.stack([divergence_from(target, of_head) for of_head in answers])
        if self.mask:
            apart = apart * (z.argmax(dim=1) == labels)
        terms = {
            "cross_entropy": smoothed_losses(logits, labels),
            "mixed": self.eta * moment.warm * apart,
        }
        return self.taught(network, terms, logits.shape[-1], moment)

    def _images(
        self,
        network: MultiHead,
        images: torch.Tensor,
        labels: torch.Tensor,
        offsets: torch.Tensor,
        shares: torch.Tensor,
        warm: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return centres and mixed images of the attack on the heads' mean."""
        if self.average == "logits":
            return self._mixing().images(network, images, labels, offsets, shares, warm=warm)
        apart = HeadsApart(network)
        return self._mixing().images(apart, images, labels, offsets, shares, warm=warm, losses=apart.losses)

    def _smoothed_answer(self, logits: torch.Tensor) -> torch.Tensor:
        """Return z of the heads' mean, (rows, classes), from all heads' logits, (heads, m, rows, classes)."""
        return smoothed_probability(logits.mean(dim=0) if self.average == "logits" else logits.flatten(0, 1))

    def _mixing(self) -> Mixing:
        return Mixing(self.steps, self.step_size, self.eta, self.one_step)
