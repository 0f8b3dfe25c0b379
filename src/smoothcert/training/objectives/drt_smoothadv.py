"""DRT on adversarial images: each member meets the images that SmoothAdv's attack finds for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.attacks import ATTACKS, GRADIENT_PASS
from smoothcert.training.checks import check_weight
from smoothcert.training.losses.adversarial import Adversarial
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment
from smoothcert.training.objectives.drt import SECOND_ORDER, drt_parts, members_of


@OBJECTIVES.register("drt-smoothadv")
@dataclass(frozen=True)
class DrtSmoothAdv(Adversarial):
    """DRT's loss on all m noisy copies of adversarial images, one adversary per member.

    Not one attack on the vote: each member is attacked alone, and the members share the noise.

    Args:
        m: noisy copies per image; each is an image of its own for the two regularisers.
        steps: gradient steps T of the attack.
        eps: radius of the l2 ball, in pixel units; it warms up with the moment of training.
        attack: name in `ATTACKS`.
        rho1: weight of gradient diversity GD. Ours: no default is published.
        rho2: weight of the confidence margin CM. Ours: no default is published.
    """

    summary: ClassVar[str] = "DRT on adversarial images, one adversary per member (Yang et al. 2022)"
    trains: ClassVar[str] = "members"
    rho1: float = 0.1
    rho2: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weight("rho1", self.rho1)
        check_weight("rho2", self.rho2)

    @property
    def cost(self) -> float:  # noqa: D102
        return self.m * (SECOND_ORDER + self.steps * GRADIENT_PASS)

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        members = members_of(model)
        offsets = source.offsets(images, self.m)
        attack, eps = ATTACKS[self.attack], self.eps * moment.warm
        inputs = [
            (attack(member, images, labels, offsets, eps=eps, steps=self.steps) + offsets).flatten(0, 1)
            for member in members
        ]
        return drt_parts(members, inputs, labels.repeat(self.m), self.rho1, self.rho2)
