"""A voting ensemble: all members answer, a rule combines their logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Any, ClassVar

import torch
from torch import nn

from smoothcert.arguments import check_kind
from smoothcert.ensembles.outside_package import outside_package
from smoothcert.ensembles.shares import shares_of
from smoothcert.ensembles.voting_rule import VOTING_RULES
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.networks import (
    Composite,
    Run,
    WholeParts,
    answer_of,
    counted,
    digest_of_parts,
    evaluations_of,
    exits_early,
    model_digest,
    packages_of,
    surrogate_of,
    whole_parts,
)


class VotingEnsemble(Composite):
    """Several classifiers that vote on every noisy image; a classifier itself.

    Not adaptive: each vote costs one forward pass of every member, and the weights are fixed numbers, never
    chosen from the image.

    Args:
        members: at least one classifier, batch -> logits, all with the same classes.
        rule: a name in `VOTING_RULES`.
        weights: one number per member, >= 0 and not all 0; scaled so that their sizes sum to 1, which no vote sees.
            Under rule "soft", the weighted sum of logits, they may be negative. Equal when left out, and always
            for rules that take none.
    """

    folds_by_part: ClassVar[bool] = True
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
        kind = VOTING_RULES[rule]
        # By a public name: what another package or a user puts here is part of the model's identity.
        self.rule_function = kind.combine
        self.members = nn.ModuleList(members)
        shares = shares_of(weights, len(members), signed=kind.takes_negative_weights)
        if kind.refuses_weights is not None and bool((shares != shares[0]).any()):
            raise InvalidArgumentError(
                f"rule {rule!r} takes no weights, because {kind.refuses_weights}; got {list(weights or ())}, leave "
                "them out"
            )
        self.register_buffer("weights", shares)
        # Seen from outside, the list of members included; changes no member.
        self.training = self.members.training = any(member.training for member in members)

    @property
    def evaluations_per_vote(self) -> int:
        """Number of network evaluations that one vote costs, members of members included."""
        return sum(evaluations_of(member) for member in self.members)

    @property
    def exits_early(self) -> bool:
        """Whether a member's votes differ in cost."""
        return any(exits_early(member) for member in self.members)

    def member_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of every member, (rows, k, classes)."""
        # Copies, because members may write all their answers into one buffer.
        answers = [answer_of(member, batch).clone() for member in self.members]
        if any(answer.shape != answers[0].shape for answer in answers):
            shapes = sorted({tuple(answer.shape) for answer in answers})
            raise ModelOutputError(
                f"members of an ensemble must answer with the same shape, got {shapes}; "
                f"use members with the same classes"
            )
        return torch.stack(answers, dim=1)

    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return the ensemble's logits, (rows, classes), from its members' (rows, k, classes)."""
        return self.rule_function(member_logits, self.weights)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the ensemble's logits, (rows, classes)."""
        return self.combine(self.member_logits(batch))

    def digest(self) -> str:
        """Return the digest of rule, shares and members in their order."""
        members = [model_digest(member) for member in self.members]
        return digest_of_parts([self.rule, self.weights.tolist(), members])

    def whole_parts(self, example: torch.Tensor) -> WholeParts:
        """Return those of its members if one of them exits early, else itself."""
        if not self.exits_early:
            return super().whole_parts(example)
        return [part for member in self.members for part in whole_parts(member, example)]

    def counted(self, batch: torch.Tensor, run: Run) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and the members' evaluations added up, row by row."""
        if not self.exits_early:
            return super().counted(batch, run)
        answers = [counted(member, batch, run) for member in self.members]
        logits = torch.stack([answer for answer, _ in answers], dim=1)
        evaluations = torch.stack([cost for _, cost in answers], dim=1)
        return self.combine(logits), self.cost(logits, evaluations)

    def cost(self, member_logits: torch.Tensor, evaluations: torch.Tensor) -> torch.Tensor:
        """Return what its votes cost, (rows,), from what each of its members cost, (rows, k)."""
        return evaluations.sum(dim=1)

    def record(self, identity_of: Callable[[nn.Module], str]) -> dict[str, Any]:
        """Return rule and members."""
        return {
            "kind": type(self).__name__,
            "rule": self.rule,
            "members": [identity_of(member) for member in self.members],
            "evaluations_per_vote": self.evaluations_per_vote,
        }

    def packages(self) -> dict[str, str]:
        """Return the package of the rule, and those that its members are made with."""
        named = outside_package(VOTING_RULES, self.rule)
        for member in self.members:
            named |= packages_of(member)
        return named

    def surrogate(self) -> VotingEnsemble:
        """Return the members voting softly, where the rule has no gradient, and members that have one themselves."""
        members = [surrogate_of(member) for member in self.members]
        if not VOTING_RULES[self.rule].has_gradient:
            soft = VotingEnsemble(members, rule="softmax")
        elif all(one is other for one, other in zip(members, self.members, strict=True)):
            return self
        else:
            soft = VotingEnsemble(members, self.rule, self.weights.tolist())
        soft.weights = soft.weights.to(self.weights.device)
        return soft

    def extra_repr(self) -> str:
        """Name the rule where torch prints the module."""
        return f"rule={self.rule!r}"


def members_of(model: nn.Module) -> list[nn.Module]:
    """Return the members of a `VotingEnsemble`, which all vote on every image; none of any other module."""
    return list(model.members) if isinstance(model, VotingEnsemble) else []
