"""Soft voting: the weighted mean of logits."""

from __future__ import annotations

from typing import ClassVar

import torch

from smoothcert.ensembles.voting_rule import VotingRule


class Soft(VotingRule):
    """The weighted mean of the members' logits."""

    takes_negative_weights: ClassVar[bool] = True

    @staticmethod
    def combine(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return the sum of weight times logits."""
        total = member_logits[:, 0] * weights[0]
        for member in range(1, member_logits.shape[1]):
            total = total + member_logits[:, member] * weights[member]
        return total
