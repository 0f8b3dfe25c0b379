"""What a voting rule is: the logits of k members -> the logits of the ensemble, and what it says about weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch

from smoothcert.registry import Registry


class VotingRule(ABC):
    """A way to combine the answers of members; a class that is never instantiated, in a file of its own name.

    Not allowed to let a row of the answer depend on other rows: elementwise steps, member by member in a fixed order,
    because torch does not promise that its own reductions add up in the same order in every row.
    """

    refuses_weights: ClassVar[str | None] = None
    """Why weights would have no meaning; None where they have one."""
    takes_negative_weights: ClassVar[bool] = False
    has_gradient: ClassVar[bool] = True
    """Whether its answers change with the members' logits other than by jumps."""

    @staticmethod
    @abstractmethod
    def combine(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return the ensemble's logits, (rows, classes).

        Args:
            member_logits: (rows, k, classes).
            weights: (k,), whose sizes sum to 1.
        """


VOTING_RULES: Registry[type[VotingRule]] = Registry(
    "voting rule",
    "smoothcert.ensembles.rules",
    VotingRule,
)


def showing_faults(answer: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
    """Return the answer, with NaN or infinity where a member's logits have it: those are errors, not votes.

    Args:
        answer: of the ensemble, (rows, classes).
        mean: of the members' logits, which keeps what is not finite.
    """
    return torch.where(mean.isfinite(), answer, mean)
