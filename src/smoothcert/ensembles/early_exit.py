"""What ensembles that stop asking early have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import nn

from smoothcert.ensembles.voting import VotingEnsemble

# From a member and a batch to its logits (rows, classes) and the network evaluations of each row (rows,).
Ask = Callable[[nn.Module, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


class EarlyExitEnsemble(nn.Module, ABC):
    """A voting ensemble that asks some members only about the noisy images that are still open.

    Not the same classifier as the ensemble it wraps: it has certificates of its own. Whether to stop must be
    decided by the noisy image alone, row by row, else those are not true.

    Args:
        ensemble: members, rule and weights.
    """

    def __init__(self, ensemble: VotingEnsemble) -> None:
        super().__init__()
        self.ensemble = ensemble
        self.training = ensemble.training

    @property
    def members(self) -> nn.ModuleList:
        """The ensemble's members, in the ensemble's order."""
        return self.ensemble.members

    @property
    def evaluations_per_vote(self) -> int:
        """Most network evaluations that one vote can cost; `vote` counts what it did cost."""
        return self.ensemble.evaluations_per_vote

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits, (rows, classes), asking members about the open rows only."""
        return self.vote(batch, _uncounted)[0]

    @abstractmethod
    def vote(self, batch: torch.Tensor, ask: Ask) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits, (rows, classes), and the network evaluations that each row took, (rows,).

        Args:
            batch: noisy images.
            ask: how to ask a member; called with at least `MIN_ROWS` rows if `batch` has as many.
        """

    @abstractmethod
    def asked(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return which members `vote` asks, (rows, members), from every member's logits (rows, members, classes)."""

    @abstractmethod
    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return what `forward` would, (rows, classes), from every member's logits (rows, members, classes)."""

    def member_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of every member, also of those that would not be asked, (rows, members, classes)."""
        return self.ensemble.member_logits(batch)


def _uncounted(member: nn.Module, batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Ask a member where nobody wants to know what it costs."""
    return member(batch), torch.zeros(len(batch), dtype=torch.int64, device=batch.device)
