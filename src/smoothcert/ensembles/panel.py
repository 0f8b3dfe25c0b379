"""A panel: the members of an ensemble and the ensemble itself, answering from the same forward passes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from smoothcert.ensembles.early_exit import EarlyExitEnsemble
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError


class Panel(nn.Module):
    """Several classifiers asked at once, so that comparing them costs no more than the ensemble alone.

    Not a classifier: it gives k + 1 answers to each image, the members' in their order and the ensemble's.
    The answers to one noisy image share its noise, which each certificate by itself does not mind.

    Args:
        ensemble: the ensemble whose members answer too.
        names: one name per answer; default "member-0", .., "ensemble".
    """

    def __init__(
        self, ensemble: VotingEnsemble | EarlyExitEnsemble, names: Sequence[str] | None = None
    ) -> None:
        super().__init__()
        self.ensemble = ensemble
        count = len(ensemble.members)
        if names is None:
            names = [*(f"member-{member}" for member in range(count)), "ensemble"]
        if len(names) != count + 1 or len(set(names)) != count + 1:
            raise InvalidArgumentError(
                f"names must be {count + 1} different names, one per member and one for the ensemble, "
                f"got {list(names)}"
            )
        self.names: tuple[str, ...] = tuple(names)
        self.training = ensemble.training

    @property
    def classifiers(self) -> tuple[nn.Module, ...]:
        """The k + 1 classifiers whose answers `forward` returns, in that order."""
        return (*self.ensemble.members, self.ensemble)

    @property
    def evaluations_per_vote(self) -> tuple[int, ...]:
        """Network evaluations per vote that each classifier would cost by itself, at most."""
        return tuple(int(getattr(one, "evaluations_per_vote", 1)) for one in self.classifiers)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return all answers, (rows, k + 1, classes)."""
        members = self.ensemble.member_logits(batch)
        return torch.cat([members, self.ensemble.combine(members).unsqueeze(1)], dim=1)
