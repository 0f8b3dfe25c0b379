"""SmoothMix (Jeong et al. 2021): less confidence on the way from an image to its far adversary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.attacks import GRADIENT_PASS, free_steps, noisy_logits
from smoothcert.training.checks import check_count, check_positive, check_switch, check_weight
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective
from smoothcert.training.smoothed_probability import clamped_log, copies_cross_entropy, smoothed_probability


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

    summary: ClassVar[str] = "mixes images with far adversaries to temper confidence (Jeong et al. 2021)"
    m: int = 2
    steps: int = 4
    step_size: float = 0.5
    eta: float = 5.0
    one_step: bool = False

    def __post_init__(self) -> None:
        check_count("m", self.m)
        check_count("steps", self.steps)
        check_positive("step_size", self.step_size, unit=" in pixel units (images span [0, 1])")
        check_weight("eta", self.eta)
        check_switch("one_step", self.one_step)

    @property
    def copies(self) -> int:  # noqa: D102
        return self.m

    @property
    def cost(self) -> float:  # noqa: D102
        return self.m * (2 + self.steps * GRADIENT_PASS)  # the 1-step adversary comes from the first gradient

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        offsets = source.offsets(images, self.m)
        share = source.uniform(images.shape[0], images.device).to(images.dtype) / 2
        far, near = free_steps(
            model,
            images,
            labels,
            offsets,
            step_size=self.step_size,
            steps=self.steps,
            first=moment.warm * self.step_size,
        )
        centre = near if self.one_step else images
        logits = noisy_logits(model, centre, offsets)
        mixed = torch.lerp(centre, far, share.reshape(-1, *[1] * (images.dim() - 1)))
        apart = mixed_divergence(logits, noisy_logits(model, mixed, offsets), labels, share)
        return {
            "cross_entropy": copies_cross_entropy(logits, labels),
            "mixed": self.eta * moment.warm * apart,
        }


def mixed_divergence(
    logits: torch.Tensor, mixed: torch.Tensor, labels: torch.Tensor, share: torch.Tensor
) -> torch.Tensor:
    """Return the mean over copies and images of KL(y_mix || F(x_mix + e_i)), 0 for images that z gets wrong.

    Args:
        logits: of the noisy copies of the centre, (m, rows, classes).
        mixed: of the noisy copies of the mixed image, (m, rows, classes).
        labels: class indices, (rows,).
        share: part l of the adversary in the mix, (rows,).
    """
    z = smoothed_probability(logits)
    share = share.to(z.dtype).unsqueeze(1)
    target = (1 - share) * z + share / z.shape[1]
    divergences = (target * (clamped_log(target) - mixed.log_softmax(dim=-1))).sum(dim=-1).mean(dim=0)
    return (divergences * (z.argmax(dim=1) == labels)).mean()
