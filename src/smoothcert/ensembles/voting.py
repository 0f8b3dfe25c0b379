"""A voting ensemble: all members answer, a rule combines their logits."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized

import torch
from torch import nn

from smoothcert.arguments import check_kind
from smoothcert.ensembles.rules import UNWEIGHTED_RULES, VOTING_RULES
from smoothcert.errors import InvalidArgumentError, ModelOutputError


class VotingEnsemble(nn.Module):
    """Several classifiers that vote on every noisy image; a classifier itself.

    Not adaptive: each vote costs one forward pass of every member, and the weights are fixed numbers, never
    chosen from the image.

    Args:
        members: at least one classifier, batch -> logits, all with the same classes.
        rule: a name in `VOTING_RULES`.
        weights: one number per member, >= 0 and not all 0; scaled so that their sizes sum to 1, which no vote sees.
            Under rule "soft", the weighted sum of logits, they may be negative. Equal when left out, and for rules in
            `UNWEIGHTED_RULES` always.
    """

    weights: torch.Tensor

    def __init__(
        self, members: Sequence[nn.Module], rule: str = "soft", weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        check_kind(
            "members", members, (list, tuple, nn.ModuleList), "a list of classifiers, [first, second, ..]"
        )
        if weights is not None:
            check_kind("weights", weights, Sized, "one number per member, or None for equal ones")
        if not len(members):
            raise InvalidArgumentError("members must hold at least one classifier, got none")
        for number, member in enumerate(members):
            if not isinstance(member, nn.Module):
                raise InvalidArgumentError(
                    f"member {number} must be a torch module, got {type(member).__name__}; of a SmoothedClassifier "
                    "give its .model, and wrap a plain function in a module"
                )
        self.rule = rule
        self._rule = VOTING_RULES[rule]
        self.members = nn.ModuleList(members)
        shares = _shares(weights, len(members), signed=rule == "soft")
        if rule in UNWEIGHTED_RULES and bool((shares != shares[0]).any()):
            raise InvalidArgumentError(
                f"rule {rule!r} takes no weights, because one member decides; got {list(weights or ())}, leave them out"
            )
        self.register_buffer("weights", shares)
        # Seen from outside, the list of members included; changes no member.
        self.training = self.members.training = any(member.training for member in members)

    @property
    def evaluations_per_vote(self) -> int:
        """Number of network evaluations that one vote costs, members of members included."""
        return sum(int(getattr(member, "evaluations_per_vote", 1)) for member in self.members)

    def member_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of every member, (rows, k, classes)."""
        answers = [member(batch) for member in self.members]
        if any(answer.shape != answers[0].shape for answer in answers):
            shapes = sorted({tuple(answer.shape) for answer in answers})
            raise ModelOutputError(
                f"members of an ensemble must answer with the same shape, got {shapes}; "
                f"use members with the same classes"
            )
        return torch.stack(answers, dim=1)

    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return the ensemble's logits, (rows, classes), from its members' (rows, k, classes)."""
        return self._rule(member_logits, self.weights)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the ensemble's logits, (rows, classes)."""
        return self.combine(self.member_logits(batch))

    def extra_repr(self) -> str:
        """Name the rule where torch prints the module."""
        return f"rule={self.rule!r}"


def _shares(weights: Sequence[float] | None, count: int, *, signed: bool) -> torch.Tensor:
    """Return weights whose sizes sum to 1."""
    if weights is None:
        weights = [1.0] * count
    if len(weights) != count:
        raise InvalidArgumentError(
            f"weights must hold one number per member, got {len(weights)} for {count} members"
        )
    try:
        numbers = [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(f"weights must be numbers, got {list(weights)}") from None
    largest = max(map(abs, numbers))
    if not all(map(math.isfinite, numbers)) or largest == 0 or (not signed and min(numbers) < 0):
        fix = "not all 0" if signed else ">= 0 and have a positive sum (rule soft takes negative ones)"
        raise InvalidArgumentError(f"weights must be finite, {fix}, got {list(weights)}")
    scaled = [weight / largest for weight in numbers]  # a sum of large numbers would overflow
    total = sum(map(abs, scaled))
    return torch.tensor([weight / total for weight in scaled], dtype=torch.float32)
