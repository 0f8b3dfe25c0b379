"""Softmax voting: the weighted mean of probabilities."""

from __future__ import annotations

import torch

from smoothcert.ensembles.rules.soft import Soft
from smoothcert.ensembles.voting_rule import VotingRule, showing_faults


class Softmax(VotingRule):
    """The logarithm of the weighted mean of the members' probabilities."""

    @staticmethod
    def combine(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return the mixture's log-probabilities."""
        # A row's softmax runs along the row's own memory, so it is the same in any company. Logarithms stay finite
        # where probabilities would be rounded to 0; a member without weight is log 0, which adds nothing.
        parts = member_logits.log_softmax(dim=2) + weights.log().reshape(1, -1, 1)
        members = range(member_logits.shape[1])
        largest = parts[:, 0]
        for member in members[1:]:
            largest = torch.maximum(largest, parts[:, member])
        total = torch.zeros_like(largest)
        for member in members:
            total = total + (parts[:, member] - largest).exp()
        return showing_faults(largest + total.log(), Soft.combine(member_logits, weights))
