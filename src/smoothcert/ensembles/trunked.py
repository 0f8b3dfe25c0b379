"""Heads of one network as the members of an ensemble: the trunk runs once, any rule or early exit decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from smoothcert.ensembles.early_exit_ensemble import EarlyExitEnsemble
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import (
    Composite,
    MultiHead,
    Run,
    WholeParts,
    counted,
    digest_of_parts,
    model_digest,
    one_headed,
    padded,
    weights_digest,
    whole_parts,
)


class TrunkedEnsemble(Composite):
    """A trunk, and an ensemble whose members read the trunk's features instead of images; a classifier itself.

    Not the network it was made of, unless all heads vote by rule "soft" with equal weights. Its evaluations are those
    of heads: the trunk runs once for every vote and is not counted.

    Args:
        trunk: from images to features.
        ensemble: over heads, batch of features -> logits; one that stops early asks its later heads about the open
            rows only, whose features are there already.
    """

    folds_by_part: ClassVar[bool] = True

    def __init__(self, trunk: nn.Module, ensemble: VotingEnsemble | EarlyExitEnsemble) -> None:
        super().__init__()
        if not isinstance(ensemble, VotingEnsemble | EarlyExitEnsemble):
            raise InvalidArgumentError(
                f"ensemble must be a VotingEnsemble or one that exits early, got {type(ensemble).__name__}"
            )
        self.trunk = trunk
        self.ensemble = ensemble
        self.training = trunk.training or ensemble.training

    @property
    def members(self) -> nn.ModuleList:
        """The heads, in the ensemble's order; they read features."""
        return self.ensemble.members

    @property
    def evaluations_per_vote(self) -> int:
        """Most head evaluations that one vote can cost."""
        return self.ensemble.evaluations_per_vote

    @property
    def exits_early(self) -> bool:
        """Whether some rows are shown to the first heads only."""
        return self.ensemble.exits_early

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits, (rows, classes)."""
        logits: torch.Tensor = self.ensemble(self.trunk(batch))
        return logits

    def member_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of every head, also of those that would not be asked, (rows, heads, classes)."""
        return self.ensemble.member_logits(self.trunk(batch))

    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return what `forward` would, (rows, classes), from every head's logits (rows, heads, classes)."""
        return self.ensemble.combine(member_logits)

    def digest(self) -> str:
        """Return the digest of the trunk and the ensemble over it."""
        return digest_of_parts(["trunk", weights_digest(self.trunk), model_digest(self.ensemble)])

    def whole_parts(self, example: torch.Tensor) -> WholeParts:
        """Return the trunk and the parts of an ensemble that exits early, which read its features; else itself."""
        if not self.exits_early:
            return super().whole_parts(example)
        return [(self.trunk, example), *whole_parts(self.ensemble, _features(self.trunk, example))]

    def counted(self, batch: torch.Tensor, run: Run) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and evaluations of heads, the trunk run once."""
        if not self.exits_early:
            return super().counted(batch, run)
        return counted(self.ensemble, run(self.trunk, batch), run)

    def record(self, identity_of: Callable[[nn.Module], str]) -> dict[str, Any]:
        """Return the record of the ensemble, its heads named as they are where they are certified alone."""
        return self.ensemble.record(lambda head: identity_of(one_headed(self.trunk, head)))

    def packages(self) -> dict[str, str]:
        """Return those that the ensemble is made with."""
        return self.ensemble.packages()

    def surrogate(self) -> nn.Module:
        """Return the trunk with the ensemble's surrogate."""
        ensemble = self.ensemble.surrogate()
        return self if ensemble is self.ensemble else TrunkedEnsemble(self.trunk, ensemble)


def _features(trunk: nn.Module, example: torch.Tensor) -> torch.Tensor:
    """Return what a trunk makes of one image, on the CPU like the image."""
    device = next((tensor.device for tensor in (*trunk.parameters(), *trunk.buffers())), example.device)
    with torch.no_grad():
        features: torch.Tensor = trunk(padded(example.unsqueeze(0)).to(device))[0]
    return features.to(example.device)


def chosen_heads(model: MultiHead, numbers: Sequence[int] | None = None) -> list[nn.Module]:
    """Return heads by number in the order asked for, all in their own order by default; each at most once.

    Args:
        model: where they are from; they keep reading its trunk's features.
        numbers: 0 .. heads - 1.
    """
    count = len(model.heads)
    wanted = list(range(count)) if numbers is None else list(numbers)
    if not wanted or len(set(wanted)) != len(wanted) or not set(wanted) <= set(range(count)):
        raise InvalidArgumentError(
            f"heads must be different numbers from 0 to {count - 1}, got {wanted}; the network has {count}"
        )
    return [model.heads[number] for number in wanted]
