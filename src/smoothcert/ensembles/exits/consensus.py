"""K-consensus: where the first members agree, the others are not asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from typing_extensions import override

from smoothcert.arguments import is_whole
from smoothcert.ensembles.early_exit import EarlyExit
from smoothcert.ensembles.early_exit_ensemble import Ask, EarlyExitEnsemble, check_voting
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import evaluations_of, exits_early, padded
from smoothcert.visible import brief


@dataclass(frozen=True)
class Consensus(EarlyExit):
    """Ask the others only where the first members disagree.

    Args:
        k: members asked first, from 1 to all.
    """

    k: int = field(default=2, metadata={"option": "consensus"})

    def __post_init__(self) -> None:
        if not is_whole(self.k, 1):
            raise InvalidArgumentError(
                f"k must be an integer from 1 to the members of the ensemble, got {brief(self.k)}"
            )

    @override
    def over(self, ensemble: VotingEnsemble) -> ConsensusEnsemble:
        return ConsensusEnsemble(ensemble, self.k)

    @override
    def spares(self, members: int) -> bool:
        return self.k < members

    @override
    def sentence(self) -> str:
        return f"the others asked where the first {self.k} disagree"


class ConsensusEnsemble(EarlyExitEnsemble):
    """A voting ensemble that stops after its first `k` members wherever these agree on the class.

    Not the same classifier as the ensemble it wraps, unless `k` is the number of members: it has certificates
    of its own. Whether to stop is decided by the noisy image alone, row by row, so those are sound. Order the
    members by accuracy on noisy hold-out images first; the order is part of what is certified.

    Args:
        ensemble: members, rule and weights. Those who agree vote by the same rule, with their weights scaled
            to sum 1.
        k: members asked first, from 1 to all.
    """

    first_weights: torch.Tensor

    def __init__(self, ensemble: VotingEnsemble, k: int = 2) -> None:
        check_voting(ensemble)
        count = len(ensemble.members)
        if not is_whole(k, 1, count):
            raise InvalidArgumentError(
                f"k must be an integer from 1 to the {count} members of the ensemble, got {brief(k)}"
            )
        super().__init__(ensemble, Consensus(k))
        weights = ensemble.weights[:k]
        if float(weights.sum()) <= 0:
            raise InvalidArgumentError(
                f"the first {k} members have weight 0, so their consensus would have no vote; put members with "
                "weight first, or raise k"
            )
        self.k = k
        # The ensemble's own numbers if all are asked: scaling again would round them again.
        scaled = weights if k == count else (weights.double() / weights.double().sum()).float()
        self.register_buffer("first_weights", scaled.clone(), persistent=False)

    @override
    def vote(self, batch: torch.Tensor, ask: Ask) -> tuple[torch.Tensor, torch.Tensor]:
        answers, passes = _all_of([ask(member, batch) for member in self.members[: self.k]])
        logits = self._combine_first(answers)
        open_rows = (~self.agreed(answers)).nonzero().squeeze(1)
        if self.k == len(self.members) or len(open_rows) == 0:
            return logits, passes
        part = padded(batch[open_rows])
        later, extra = _all_of([ask(member, part) for member in self.members[self.k :]])
        whole = torch.cat([answers[open_rows], later[: len(open_rows)]], dim=1)
        return (
            logits.index_put((open_rows,), self.ensemble.combine(whole)),
            passes.index_put((open_rows,), extra[: len(open_rows)], accumulate=True),
        )

    def agreed(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return where the first `k` of (rows, members, classes) logits have the same largest class, (rows,)."""
        classes = member_logits[:, : self.k].argmax(dim=2)
        return (classes == classes[:, :1]).all(dim=1)

    @override
    def members_asked(self, member_logits: torch.Tensor) -> torch.Tensor:
        first = torch.arange(len(self.members), device=member_logits.device) < self.k
        return first | ~self.agreed(member_logits).unsqueeze(1)

    @override
    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        stop = self.agreed(member_logits).unsqueeze(1)
        first = self._combine_first(member_logits[:, : self.k])
        return torch.where(stop, first, self.ensemble.combine(member_logits))

    def _combine_first(self, member_logits: torch.Tensor) -> torch.Tensor:
        return self.ensemble.rule_function(member_logits, self.first_weights)

    def record(self, identity_of: Callable[[nn.Module], str]) -> dict[str, Any]:
        """Return the record with what a vote of the first members costs, for the share of votes that end there."""
        # Unknown where a member stops early itself: its votes differ in cost.
        known = not any(exits_early(member) for member in self.members)
        first = sum(evaluations_of(member) for member in self.members[: self.k]) if known else None
        return {**super().record(identity_of), "first_evaluations": first}

    def extra_repr(self) -> str:
        """Name the number of first members where torch prints the module."""
        return f"k={self.k}"


def _all_of(answers: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits stacked by member and evaluations added up."""
    passes = answers[0][1]
    for _, more in answers[1:]:
        passes = passes + more
    return torch.stack([logits for logits, _ in answers], dim=1), passes
