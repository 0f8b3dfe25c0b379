"""How SmoothMix mixes (Jeong et al. 2021): images with their far adversaries, answers with no answer."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert import attacks
from smoothcert.arguments import check_switch
from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_count, check_positive, check_weight
from smoothcert.training.losses.smoothed_probability import clamped_log
from smoothcert.training.steps.step import Step


@dataclass(frozen=True)
class Mixing:
    """Settings of the attack and of the mix, and the images they lead to.

    Not a loss by itself, and not random: the share l of the adversary is drawn by `draw_shares`.

    Args:
        steps: gradient steps T of the attack.
        step_size: length alpha of a step, in pixel units.
        eta: weight of the mixed part of a loss; it warms up with the moment of training.
        one_step: put the 1-step adversary, at most warm times alpha away, in the place of the clean image.
    """

    steps: int
    step_size: float
    eta: float
    one_step: bool

    def __post_init__(self) -> None:
        check_count("steps", self.steps)
        check_positive("step_size", self.step_size, unit=" in pixel units (images span [0, 1])")
        check_weight("eta", self.eta)
        check_switch("one_step", self.one_step)

    @property
    def cost(self) -> float:
        """Training passes per noisy copy: the centre, the mix, and the attack's gradients."""
        return 2 + self.steps * attacks.GRADIENT_PASS  # the 1-step adversary comes from the first gradient

    def images(
        self,
        step: Step,
        offsets: torch.Tensor,
        shares: torch.Tensor,
        *,
        losses: attacks.Losses = attacks.smoothed_loss,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the centres (clean images, or 1-step adversaries) and x_mix = (1 - l) centre + l x_adv.

        Args:
            step: its model's smoothed loss is what the attack climbs.
            offsets: noise of the m copies, (m, rows, ...).
            shares: part l of the adversary in the mix, (rows,).
            losses: what the attack climbs, if not the smoothed loss.
        """
        far, near = attacks.free_steps(
            step.model,
            step.images,
            step.labels,
            offsets,
            step_size=self.step_size,
            steps=self.steps,
            first=step.moment.warm * self.step_size,
            losses=losses,
        )
        centre = near if self.one_step else step.images
        return centre, torch.lerp(centre, far, shares.reshape(-1, *[1] * (centre.dim() - 1)))


def draw_shares(step: Step) -> torch.Tensor:
    """Draw the part l ~ U[0, 1/2] of the adversary in every mix, (rows,)."""
    images = step.images
    return step.source.uniform(images.shape[0], images.device).to(images.dtype) / 2


def mixed_target(z: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
    """Return y_mix = (1 - l) z + l / K, (rows, classes); gradients flow through z."""
    shares = shares.to(z.dtype).unsqueeze(1)
    return (1 - shares) * z + shares / z.shape[1]


def divergence_from(target: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """Return mean_i KL(target || F_i) per image, (rows,); target (rows, classes), logits (m, rows, classes)."""
    return (target * (clamped_log(target) - logits.log_softmax(dim=-1))).sum(dim=-1).mean(dim=0)
