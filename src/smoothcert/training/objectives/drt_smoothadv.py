"""DRT on adversarial images: each member meets the images that SmoothAdv's attack finds for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert import attacks
from smoothcert.on_demand import torch
from smoothcert.training.losses.adversarial import Adversarial
from smoothcert.training.losses.checks import check_weight
from smoothcert.training.losses.drt_loss import SECOND_ORDER, drt_parts, members_of
from smoothcert.training.objective import Trains
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
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
    trains: ClassVar[Trains] = "members"
    rho1: float = 0.1
    rho2: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weight("rho1", self.rho1)
        check_weight("rho2", self.rho2)

    @property
    @override
    def cost(self) -> float:
        return self.m * (SECOND_ORDER + self.steps * attacks.GRADIENT_PASS)

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        members = members_of(step.model)
        offsets = step.offsets(self.m)
        attack, eps = attacks.ATTACKS[self.attack], self.eps * step.moment.warm
        adversaries = (
            attack(member, step.images, step.labels, offsets, eps=eps, steps=self.steps) for member in members
        )
        inputs = [(moved + offsets).flatten(0, 1) for moved in adversaries]
        return drt_parts(members, inputs, step.labels.repeat(self.m), self.rho1, self.rho2)
