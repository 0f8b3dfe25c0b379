"""DRT (Yang et al. 2022): members of an ensemble fine-tuned together to be sure and to differ in their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from smoothcert.attacks import GRADIENT_PASS, copy_logits
from smoothcert.ensembles import members_of as voting_members
from smoothcert.errors import InvalidArgumentError
from smoothcert.training.checks import check_weight
from smoothcert.training.losses.diversity import gradient_diversity, margin_gradients, margins, mean_where
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective

SECOND_ORDER = 1 + 2 * GRADIENT_PASS
"""Price of a pass whose input gradient is differentiated again: that gradient costs a pass, and so does its own."""


@OBJECTIVES.register("drt")
@dataclass(frozen=True)
class Drt(Objective):
    """Sum of the members' cross entropies + rho1 GD - rho2 CM on one noisy copy that all members share.

    Not a training from the start: its two regularisers look at images that members get right.

    Args:
        rho1: weight of gradient diversity GD. Ours: no default is published.
        rho2: weight of the confidence margin CM. Ours: no default is published.
    """

    summary: ClassVar[str] = "members fine-tuned for sure answers and opposite gradients (Yang et al. 2022)"
    trains: ClassVar[str] = "members"
    rho1: float = 0.1
    rho2: float = 0.5

    def __post_init__(self) -> None:
        check_weight("rho1", self.rho1)
        check_weight("rho2", self.rho2)

    @property
    def cost(self) -> float:  # noqa: D102
        return SECOND_ORDER

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        members = members_of(model)
        noisy = source.copies(images, 1)[0]
        return drt_parts(members, [noisy] * len(members), labels, self.rho1, self.rho2)


def members_of(model: nn.Module) -> list[nn.Module]:
    """Return the members that are trained together; refuse a model without at least two."""
    members = voting_members(model)
    if len(members) < 2:
        raise InvalidArgumentError(
            "DRT fine-tunes the members of an ensemble together; model must be a VotingEnsemble of at least 2, "
            f"got {type(model).__name__}"
        )
    return members


def drt_parts(
    members: Sequence[nn.Module],
    inputs: Sequence[torch.Tensor],
    labels: torch.Tensor,
    rho1: float,
    rho2: float,
) -> dict[str, torch.Tensor]:
    """Return the named parts of DRT's loss.

    Each process of several averages over the images that it sees members get right.

    Args:
        members: batch -> logits, in train mode.
        inputs: the noisy images of each member, (rows, ...).
        labels: class indices, (rows,).
        rho1: weight of gradient diversity.
        rho2: weight of the confidence margin.
    """
    asked = [each.detach().requires_grad_() for each in inputs]
    answers = [copy_logits(member, at.unsqueeze(0))[0] for member, at in zip(members, asked, strict=True)]
    right = [logits.argmax(dim=-1) == labels for logits in answers]
    gradients = [margin_gradients(logits, at) for logits, at in zip(answers, asked, strict=True)]
    margin = mean_where(torch.stack([margins(logits) for logits in answers]), torch.stack(right))
    return {
        "cross_entropy": torch.stack([cross_entropy(logits, labels) for logits in answers]).sum(),
        "gradient_diversity": rho1 * gradient_diversity(gradients, right),
        "confidence_margin": -rho2 * margin,
    }
