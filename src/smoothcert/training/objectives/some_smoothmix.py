"""SOME on SmoothMix (Fang et al., Eq. (11)): the mix comes from the heads' mean, every head learns from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from typing_extensions import override

from smoothcert import networks
from smoothcert.arguments import check_switch
from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_choice
from smoothcert.training.losses.circular_teaching import (
    CircularTeaching,
    copies_head_logits,
    smoothed_losses,
    with_heads,
)
from smoothcert.training.losses.smoothed_probability import smoothed_probability
from smoothcert.training.losses.smoothmix_mixing import Mixing, divergence_from, draw_shares, mixed_target
from smoothcert.training.steps.step import Step

AVERAGES = ("logits", "softmax")


@dataclass(frozen=True, kw_only=True)
class SomeSmoothMix(CircularTeaching):
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
    @override
    def cost(self) -> float:
        return self.m * self._mixing().cost

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        network = with_heads(step.model)
        offsets = step.offsets(self.m)
        shares = draw_shares(step)
        centre, mixed = self._images(step, network, offsets, shares)
        logits = copies_head_logits(network, centre + offsets)
        z = self._smoothed_answer(logits)
        target = mixed_target(z, shares)
        answers = copies_head_logits(network, mixed + offsets)
        distances = torch.stack([divergence_from(target, of_head) for of_head in answers])
        if self.mask:
            distances = distances * (z.argmax(dim=1) == step.labels)
        terms = {
            "cross_entropy": smoothed_losses(logits, step.labels),
            "mixed": self.eta * step.moment.warm * distances,
        }
        return self.weighted_parts(network, terms, logits.shape[-1], step.moment)

    def _images(
        self, step: Step, network: networks.MultiHead, offsets: torch.Tensor, shares: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return centres and mixed images of the attack on the heads' mean."""
        if self.average == "logits":
            return self._mixing().images(step, offsets, shares)
        from smoothcert.training.losses.separate_heads import SeparateHeads  # a class that needs torch

        separate = SeparateHeads(network)
        return self._mixing().images(replace(step, model=separate), offsets, shares, losses=separate.losses)

    def _smoothed_answer(self, logits: torch.Tensor) -> torch.Tensor:
        """Return z of the heads' mean, (rows, classes), from all heads' logits, (heads, m, rows, classes)."""
        return smoothed_probability(logits.mean(dim=0) if self.average == "logits" else logits.flatten(0, 1))

    def _mixing(self) -> Mixing:
        return Mixing(self.steps, self.step_size, self.eta, self.one_step)
