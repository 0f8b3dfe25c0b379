"""What ensembles that stop asking early have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from smoothcert.ensembles.early_exit import EARLY_EXITS, EarlyExit
from smoothcert.ensembles.outside_package import outside_package
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import (
    Composite,
    Run,
    WholeParts,
    answer_of,
    counted,
    digest_of_parts,
    model_digest,
    whole_parts,
)

# From a member and a batch to its logits (rows, classes) and the network evaluations of each row (rows,).
Ask = Callable[[nn.Module, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


class EarlyExitEnsemble(Composite):
    """A voting ensemble that asks some members only about the noisy images that are still open.

    Not the same classifier as the ensemble it wraps: it has certificates of its own. Whether to stop must be
    decided by the noisy image alone, row by row, else those are not true.

    Args:
        ensemble: members, rule and weights.
        early_exit: the settings by which it stops.
    """

    def __init__(self, ensemble: VotingEnsemble, early_exit: EarlyExit) -> None:
        check_voting(ensemble, early_exit.rule)
        super().__init__()
        self.ensemble = ensemble
        self.early_exit = early_exit
        self.training = ensemble.training

    @property
    def members(self) -> nn.ModuleList:
        """The ensemble's members, in the ensemble's order."""
        return self.ensemble.members

    @property
    def evaluations_per_vote(self) -> int:
        """Most network evaluations that one vote can cost; `vote` counts what it did cost."""
        return self.ensemble.evaluations_per_vote

    @property
    def exits_early(self) -> bool:
        """Whether its votes differ in cost: always taken to."""
        return True

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
    def members_asked(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return which members `vote` asks, (rows, members), from every member's logits (rows, members, classes)."""

    @abstractmethod
    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return what `forward` would, (rows, classes), from every member's logits (rows, members, classes)."""

    def member_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of every member, also of those that would not be asked, (rows, members, classes)."""
        return self.ensemble.member_logits(batch)

    def cost(self, member_logits: torch.Tensor, evaluations: torch.Tensor) -> torch.Tensor:
        """Return what its votes cost, (rows,), where every member was asked by others too.

        Args:
            member_logits: (rows, members, classes).
            evaluations: of each member, (rows, members).
        """
        return (evaluations * self.members_asked(member_logits)).sum(dim=1)

    def digest(self) -> str:
        """Return the digest of kind, settings and ensemble."""
        return digest_of_parts([*self.early_exit.describe().values(), model_digest(self.ensemble)])

    def whole_parts(self, example: torch.Tensor) -> WholeParts:
        """Return those of its members."""
        return [part for member in self.members for part in whole_parts(member, example)]

    def counted(self, batch: torch.Tensor, run: Run) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what `vote` does, its members executed by `run`."""
        return self.vote(batch, lambda member, part: counted(member, part, run))

    def record(self, identity_of: Callable[[nn.Module], str]) -> dict[str, Any]:
        """Return the ensemble's record, and when it stops."""
        return {
            **self.ensemble.record(identity_of),
            "kind": type(self).__name__,
            "evaluations_per_vote": self.evaluations_per_vote,
            "early_exit": self.early_exit.describe(),
        }

    def packages(self) -> dict[str, str]:
        """Return the package of the early exit beside those of the ensemble."""
        kind = self.early_exit.describe()["kind"]
        return {**self.ensemble.packages(), **outside_package(EARLY_EXITS, kind)}

    def surrogate(self) -> VotingEnsemble:
        """Return that of the ensemble: leaving early changes a vote now and then, and blocks gradients."""
        return self.ensemble.surrogate()


def check_voting(ensemble: Any, rule: str | None = None) -> None:
    """Refuse what is no voting ensemble, or one of another rule than the one needed."""
    got = ensemble.rule if isinstance(ensemble, VotingEnsemble) else type(ensemble).__name__
    if not isinstance(ensemble, VotingEnsemble) or rule not in (None, got):
        fault = f", got {got}" if rule is None else f" of rule {rule!r}, got {got!r}"
        raise InvalidArgumentError(f"ensemble must be a VotingEnsemble{fault}")


def _uncounted(member: nn.Module, batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Ask a member where nobody wants to know what it costs."""
    answer = answer_of(member, batch).clone()  # because members may write all their answers into one buffer
    return answer, torch.zeros(len(batch), dtype=torch.int64, device=batch.device)
