"""Voting rules: the logits of k members -> the logits of the ensemble, one function each."""

from __future__ import annotations

from collections.abc import Callable

import torch

from smoothcert.registry import Registry

# From member logits (rows, k, classes) and weights (k,) that sum to 1, to ensemble logits (rows, classes).
# A row of the answer may depend on the same row of the logits only.
VotingRule = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

VOTING_RULES: Registry[VotingRule] = Registry("voting rule")


@VOTING_RULES.register("soft")
def soft(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the weighted mean of the members' logits."""
    # Member by member: elementwise steps in a fixed order, so that a vote cannot depend on its neighbours;
    # torch does not promise that its own reductions add up in the same order in every row.
    total = member_logits[:, 0] * weights[0]
    for member in range(1, member_logits.shape[1]):
        total = total + member_logits[:, member] * weights[member]
    return total
