"""SmoothMix (Jeong et al. 2021): less confidence on the way from an image to its far adversary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert import attacks
from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_count
from smoothcert.training.losses.smoothed_probability import copies_cross_entropy, smoothed_probability
from smoothcert.training.losses.smoothmix_mixing import Mixing, divergence_from, draw_shares, mixed_target
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
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
    @override
    def copies(self) -> int:
        return self.m

    @property
    @override
    def cost(self) -> float:
        return self.m * self._mixing().cost

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        offsets = step.offsets(self.m)
        shares = draw_shares(step)
        centre, mixed = self._mixing().images(step, offsets, shares)
        logits = attacks.noisy_logits(step.model, centre, offsets)
        z = smoothed_probability(logits)
        distances = divergence_from(mixed_target(z, shares), attacks.noisy_logits(step.model, mixed, offsets))
        return {
            "cross_entropy": copies_cross_entropy(logits, step.labels),
            "mixed": self.eta * step.moment.warm * (distances * (z.argmax(dim=1) == step.labels)).mean(),
        }

    def _mixing(self) -> Mixing:
        return Mixing(self.steps, self.step_size, self.eta, self.one_step)
