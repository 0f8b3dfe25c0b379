"""Hard voting: the class with the most weight of votes."""

from __future__ import annotations

from typing import ClassVar

import torch

from smoothcert.ensembles.rules.soft import Soft
from smoothcert.ensembles.voting_rule import VotingRule, showing_faults

_TIE = 1e-5  # shares are float32: 1/6 + 2/6 is not 3/6 there


class Hard(VotingRule):
    """Logits whose largest is the class with the most weight of votes; ties go to the larger mean logit."""

    has_gradient: ClassVar[bool] = False

    @staticmethod
    def combine(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return the mean logits among classes that tie; every other class lies below, the lower the fewer votes."""
        choices = member_logits.argmax(dim=2)
        classes = torch.arange(member_logits.shape[2], device=member_logits.device).unsqueeze(0)
        mean = Soft.combine(member_logits, weights)
        votes = torch.zeros_like(mean)
        for member in range(member_logits.shape[1]):
            votes = votes + (choices[:, member].unsqueeze(1) == classes) * weights[member]
        behind = votes.amax(dim=1, keepdim=True) - votes
        # In steps that large logits do not round away.
        step = mean.abs().amax(dim=1, keepdim=True).clamp(min=1.0)
        below = mean.amin(dim=1, keepdim=True) - step * (1.0 + behind)
        return showing_faults(torch.where(behind < _TIE, mean, below), mean)
