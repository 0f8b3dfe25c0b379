"""DRT's loss (Yang et al. 2022): cross entropies of an ensemble's members, gradient diversity, confidence margin."""

from __future__ import annotations

from collections.abc import Sequence

from smoothcert import attacks, ensembles
from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import nn, torch
from smoothcert.training.losses.diversity import gradient_diversity, margin_gradients, margins, mean_where

SECOND_ORDER = 1 + 2 * attacks.GRADIENT_PASS
"""Price of a pass whose input gradient is differentiated again: that gradient costs a pass, and so does its own."""


def members_of(model: nn.Module) -> list[nn.Module]:
    """Return the members that are trained together; refuse a model without at least two."""
    members = ensembles.members_of(model)
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
    answers = [
        attacks.copy_logits(member, at.unsqueeze(0))[0] for member, at in zip(members, asked, strict=True)
    ]
    right = [logits.argmax(dim=-1) == labels for logits in answers]
    gradients = [margin_gradients(logits, at) for logits, at in zip(answers, asked, strict=True)]
    margin = mean_where(torch.stack([margins(logits) for logits in answers]), torch.stack(right))
    return {
        "cross_entropy": torch.stack(
            [torch.nn.functional.cross_entropy(logits, labels) for logits in answers]
        ).sum(),
        "gradient_diversity": rho1 * gradient_diversity(gradients, right),
        "confidence_margin": -rho2 * margin,
    }
