"""What objectives on adversarial images share: an attack on the smoothed classifier, and noise for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert import attacks
from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_choice, check_count, check_positive
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class Adversarial(Objective):
    """What objectives on adversarial images share: the attack's settings, and the logits of its noisy copies.

    Not an objective of its own. The same m noises serve the attack and the loss, unless an objective draws anew.

    Args:
        m: noisy copies per image.
        steps: gradient steps T of the attack.
        eps: radius of the l2 ball, in pixel units; it warms up with the moment of training.
        attack: name in `ATTACKS`.
    """

    moves_images: ClassVar[bool] = True

    m: int = 2
    steps: int = 2
    eps: float = 1.0
    attack: str = "pgd"

    def __post_init__(self) -> None:
        check_count("m", self.m)
        check_count("steps", self.steps)
        check_positive("eps", self.eps, unit=" in pixel units (images span [0, 1])")
        check_choice("attack", self.attack, attacks.ATTACKS)

    @property
    @override
    def copies(self) -> int:
        return self.m

    @property
    @override
    def cost(self) -> float:
        return self.m * (1 + self.steps * attacks.GRADIENT_PASS)

    def adversarial_logits(self, step: Step, *, fresh_noise: bool = False) -> torch.Tensor:
        """Return the logits of m noisy copies of the adversarial images, (m, rows, classes).

        Args:
            step: what to attack, on which images.
            fresh_noise: draw the noise of these copies anew, after the attack, instead of using the attack's.
        """
        offsets = step.offsets(self.m)
        adversaries = attacks.ATTACKS[self.attack](
            step.model,
            step.images,
            step.labels,
            offsets,
            eps=self.eps * step.moment.warm,
            steps=self.steps,
        )
        return attacks.noisy_logits(step.model, adversaries, step.offsets(self.m) if fresh_noise else offsets)
