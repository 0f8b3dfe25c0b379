"""DRT (Yang et al. 2022): members of an ensemble fine-tuned together to be sure and to differ in their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_weight
from smoothcert.training.losses.drt_loss import SECOND_ORDER, drt_parts, members_of
from smoothcert.training.objective import Objective, Trains
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class Drt(Objective):
    """Sum of the members' cross entropies + rho1 GD - rho2 CM on one noisy copy that all members share.

    Not a training from the start: its two regularisers look at images that members get right.

    Args:
        rho1: weight of gradient diversity GD. Ours: no default is published.
        rho2: weight of the confidence margin CM. Ours: no default is published.
    """

    summary: ClassVar[str] = "members fine-tuned for sure answers and opposite gradients (Yang et al. 2022)"
    trains: ClassVar[Trains] = "members"
    rho1: float = 0.1
    rho2: float = 0.5

    def __post_init__(self) -> None:
        check_weight("rho1", self.rho1)
        check_weight("rho2", self.rho2)

    @property
    @override
    def cost(self) -> float:
        return SECOND_ORDER

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        members = members_of(step.model)
        noisy = step.copies(1)[0]
        return drt_parts(members, [noisy] * len(members), step.labels, self.rho1, self.rho2)
