"""What objectives on adversarial images share: an attack on the smoothed classifier, and noise for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.attacks import ATTACKS, GRADIENT_PASS, noisy_logits
from smoothcert.training.checks import check_choice, check_count, check_positive
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import Moment, Objective


@dataclass(frozen=True)
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
        check_choice("attack", self.attack, ATTACKS)

    @property
    def copies(self) -> int:  # noqa: D102
        return self.m

    @property
    def cost(self) -> float:  # noqa: D102
        return self.m * (1 + self.steps * GRADIENT_PASS)

    def adversarial_logits(
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
        *,
        fresh_noise: bool = False,
    ) -> torch.Tensor:
        """Return the logits of m noisy copies of the adversarial images, (m, rows, classes).

        Args:
            model: the network in train mode.
            images: clean images in pixel units, (rows, ...).
            labels: class indices, (rows,).
            source: where the noise comes from.
            moment: how far training has come.
            fresh_noise: draw the noise of these copies anew, after the attack, instead of using the attack's.
        """
        offsets = source.offsets(images, self.m)
        found = ATTACKS[self.attack](
            model, images, labels, offsets, eps=self.eps * moment.warm, steps=self.steps
        )
        return noisy_logits(model, found, source.offsets(images, self.m) if fresh_noise else offsets)
