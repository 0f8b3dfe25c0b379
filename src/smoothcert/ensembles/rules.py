"""Voting rules: the logits of k members -> the logits of the ensemble, one function each."""

from __future__ import annotations

from collections.abc import Callable

import torch

from smoothcert.registry import Table

# From member logits (rows, k, classes) and weights (k,) that sum to 1, to ensemble logits (rows, classes).
# A row of the answer may depend on the same row of the logits only.
VotingRule = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

VOTING_RULES: Table[VotingRule] = Table("voting rule")

UNWEIGHTED_RULES = frozenset({"max-margin"})
"""Rules in which one member decides, so that weights would have no meaning."""

_TIE = 1e-5  # shares are float32: 1/6 + 2/6 is not 3/6 there


@VOTING_RULES.register("soft")
def soft(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the weighted mean of the members' logits."""
    # Member by member: elementwise steps in a fixed order, so that a vote cannot depend on its neighbours;
    # torch does not promise that its own reductions add up in the same order in every row.
    total = member_logits[:, 0] * weights[0]
    for member in range(1, member_logits.shape[1]):
        total = total + member_logits[:, member] * weights[member]
    return total


@VOTING_RULES.register("softmax")
def softmax(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of the weighted mean of the members' probabilities."""
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
    return _showing_faults(largest + total.log(), soft(member_logits, weights))


@VOTING_RULES.register("hard")
def hard(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return logits whose largest is the class with the most weight of votes; ties go to the larger mean logit.

    Among classes that tie they are the mean logits; every other class lies below all mean logits, the lower the
    fewer votes it has.
    """
    choices = member_logits.argmax(dim=2)
    classes = torch.arange(member_logits.shape[2], device=member_logits.device).unsqueeze(0)
    mean = soft(member_logits, weights)
    votes = torch.zeros_like(mean)
    for member in range(member_logits.shape[1]):
        votes = votes + (choices[:, member].unsqueeze(1) == classes) * weights[member]
    behind = votes.amax(dim=1, keepdim=True) - votes
    # In steps that large logits do not round away.
    step = mean.abs().amax(dim=1, keepdim=True).clamp(min=1.0)
    below = mean.amin(dim=1, keepdim=True) - step * (1.0 + behind)
    return _showing_faults(torch.where(behind < _TIE, mean, below), mean)


@VOTING_RULES.register("max-margin")
def max_margin(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the logits of the member with the largest softmax margin, the first of those that tie.

    A function of the noisy image alone, so its certificates are sound, although the deciding member changes.
    """
    # In double precision, because confident members all have margin 1 in float32.
    top = member_logits.double().softmax(dim=2).topk(2, dim=2).values
    margins = top[:, :, 0] - top[:, :, 1]
    best, answer = margins[:, 0], member_logits[:, 0]
    for member in range(1, member_logits.shape[1]):
        better = margins[:, member] > best
        best = torch.where(better, margins[:, member], best)
        answer = torch.where(better.unsqueeze(1), member_logits[:, member], answer)
    return _showing_faults(answer, soft(member_logits, weights))


def _showing_faults(answer: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
    """Return the answer, with NaN or infinity where a member's logits have it: those are errors, not votes."""
    return torch.where(mean.isfinite(), answer, mean)
