"""A panel: the members of an ensemble and ensembles of some or all of them, answering from the same forward passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from smoothcert.arguments import check_kind
from smoothcert.ensembles.early_exit_ensemble import EarlyExitEnsemble
from smoothcert.ensembles.trunked import TrunkedEnsemble
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import (
    Composite,
    Run,
    WholeParts,
    counted,
    evaluations_of,
    exits_early,
    model_digest,
    whole_parts,
)

Ensemble = VotingEnsemble | EarlyExitEnsemble


class Panel(Composite):
    """Several classifiers asked at once, so that comparing them costs no more than asking every member once.

    Not a classifier: it gives several answers to each image, the members' in their order and then the ensembles'.
    The answers to one noisy image share its noise, which each certificate by itself does not mind.

    Args:
        ensembles: an ensemble whose members answer too, or several, one of which has the members of all others.
        names: one name per answer; default "member-0", .., "ensemble" ("ensemble-0", .. if there are several).
    """

    folds_by_part: ClassVar[bool] = True

    def __init__(self, ensembles: Ensemble | Sequence[Ensemble], names: Sequence[str] | None = None) -> None:
        super().__init__()
        check_kind(
            "ensembles", ensembles, (nn.Module, list, tuple), "a VotingEnsemble, or a list of ensembles"
        )
        several = [ensembles] if isinstance(ensembles, nn.Module) else list(ensembles)
        if not several:
            raise InvalidArgumentError("ensembles must hold at least one ensemble, got none")
        _refuse_heads(several)
        for ensemble in several:
            if not isinstance(ensemble, VotingEnsemble | EarlyExitEnsemble):
                raise InvalidArgumentError(
                    f"ensembles must be ensembles of networks, got {type(ensemble).__name__}; for networks alone use "
                    "Panel(VotingEnsemble(networks))"
                )
        self._widest, self._places = _common_members(several)
        self.ensembles = nn.ModuleList(several)
        count = len(self.members)
        if names is None:
            own = (
                ["ensemble"]
                if len(several) == 1
                else [f"ensemble-{number}" for number in range(len(several))]
            )
            names = [*(f"member-{member}" for member in range(count)), *own]
        if len(names) != count + len(several) or len(set(names)) != len(names):
            raise InvalidArgumentError(
                f"names must be {count + len(several)} different names, one per member and one per ensemble, "
                f"got {list(names)}"
            )
        self.names: tuple[str, ...] = tuple(names)
        self.training = self.ensembles.training = several[0].training  # a new list is in train mode

    @property
    def members(self) -> nn.ModuleList:
        """All members, in the order of the widest ensemble; the first of several as wide."""
        return self.ensembles[self._widest].members  # type: ignore[return-value]  # torch types no attribute of a module

    @property
    def classifiers(self) -> tuple[nn.Module, ...]:
        """The classifiers whose answers `forward` returns, in that order."""
        return (*self.members, *self.ensembles)

    @property
    def evaluations_per_vote(self) -> tuple[int, ...]:
        """Network evaluations per vote that each classifier would cost by itself, at most."""
        return tuple(evaluations_of(one) for one in self.classifiers)

    @property
    def exits_early(self) -> bool:
        """Whether the votes of one of its ensembles differ in cost."""
        return any(exits_early(ensemble) for ensemble in self.ensembles)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return all answers, (rows, answers, classes)."""
        return self.combine(self.ensembles[self._widest].member_logits(batch))  # type: ignore[operator]

    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return all answers, (rows, answers, classes), from those of the members, (rows, members, classes)."""
        together = [
            ensemble.combine(_chosen(member_logits, places)).unsqueeze(1)  # type: ignore[operator]
            for ensemble, places in zip(self.ensembles, self._places, strict=True)
        ]
        return torch.cat([member_logits, *together], dim=1)

    def whole_parts(self, example: torch.Tensor) -> WholeParts:
        """Return those of its members if an ensemble exits early, else itself."""
        if not self.exits_early:
            return super().whole_parts(example)
        return [part for member in self.members for part in whole_parts(member, example)]

    def counted(self, batch: torch.Tensor, run: Run) -> tuple[torch.Tensor, torch.Tensor]:
        """Return all answers and what each classifier would cost by itself, (rows, answers)."""
        if not self.exits_early:
            each = torch.tensor(self.evaluations_per_vote, device=batch.device)
            return run(self, batch), each.repeat(len(batch), 1)
        answers = [counted(member, batch, run) for member in self.members]
        logits = torch.stack([answer for answer, _ in answers], dim=1)
        evaluations = torch.stack([cost for _, cost in answers], dim=1)
        together = [
            ensemble.cost(_chosen(logits, places), _chosen(evaluations, places)).unsqueeze(1)  # type: ignore[operator]
            for ensemble, places in zip(self.ensembles, self._places, strict=True)
        ]
        return self.combine(logits), torch.cat([evaluations, *together], dim=1)


def panel_of(model: Any) -> Panel | None:
    """Return a panel of an ensemble and its members; None for what has no members that read images."""
    return Panel(model) if isinstance(model, VotingEnsemble | EarlyExitEnsemble) else None


def _refuse_heads(ensembles: Sequence[nn.Module]) -> None:
    """Refuse ensembles whose members do not read images."""
    if any(isinstance(ensemble, TrunkedEnsemble) for ensemble in ensembles):
        raise InvalidArgumentError(
            "a panel asks members about images, but heads of one network read its trunk's features; make the ensemble "
            "of VotingEnsemble([network.head(0), network.head(1), ..])"
        )


def _common_members(ensembles: Sequence[Ensemble]) -> tuple[int, list[tuple[int, ...]]]:
    """Return which ensemble has all members, and where those of each stand among them; refuse if none has."""
    digests = [[model_digest(member) for member in ensemble.members] for ensemble in ensembles]
    widest = max(range(len(digests)), key=lambda number: (len(set(digests[number])), len(digests[number])))
    places = []
    for number, ensemble in enumerate(ensembles):
        in_order = digests[number] == digests[widest]
        found = [
            _place(member, own, at if in_order else None, ensembles[widest].members, digests[widest])
            for at, (member, own) in enumerate(zip(ensemble.members, digests[number], strict=True))
        ]
        if None in found:
            raise InvalidArgumentError(
                f"ensemble {number} has a member that the widest ensemble does not have, or not one alone that it "
                "could be; a panel needs one ensemble with the members of all others"
            )
        places.append(tuple(place for place in found if place is not None))
    return widest, places


def _place(
    member: nn.Module, own: str, at: int | None, members: nn.ModuleList, digests: list[str]
) -> int | None:
    """Return where a member stands among all: the module itself, or else its copy; None if that cannot be told.

    Args:
        member: to find.
        own: its digest.
        at: where its copy must be, if the ensembles have the same members in the same order.
        members: all.
        digests: of all.
    """
    # The module first: the digest of a network of somebody's own code need not tell it from another.
    same = [place for place, other in enumerate(members) if other is member]
    if same or at is not None:
        return same[0] if same else at
    alike = [place for place, digest in enumerate(digests) if digest == own]
    return alike[0] if len(alike) == 1 else None


def _chosen(answers: torch.Tensor, places: tuple[int, ...]) -> torch.Tensor:
    """Return the answers of some members, (rows, k, ...), from all, (rows, members, ...)."""
    return answers if places == tuple(range(answers.shape[1])) else answers[:, list(places)]
