"""Answers together with what they cost: network evaluations, row by row."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from smoothcert.ensembles.early_exit import EarlyExitEnsemble
from smoothcert.ensembles.panel import Panel
from smoothcert.ensembles.trunked import TrunkedEnsemble
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.networks import Denoised, MultiHead, padded

Priced = Panel | VotingEnsemble | EarlyExitEnsemble | TrunkedEnsemble | MultiHead | Denoised
"""What says how many evaluations a vote costs; anything else costs one, whatever attributes it has."""


def exits_early(model: nn.Module) -> bool:
    """Return whether the votes of a model, or of a member of it at any depth, differ in cost."""
    if isinstance(model, Panel):
        return any(exits_early(ensemble) for ensemble in model.ensembles)
    if isinstance(model, VotingEnsemble):
        return any(exits_early(member) for member in model.members)
    if isinstance(model, TrunkedEnsemble):
        return exits_early(model.ensemble)
    return isinstance(model, EarlyExitEnsemble)


def whole_parts(model: nn.Module, example: torch.Tensor) -> list[tuple[nn.Module, torch.Tensor]]:
    """Return the largest parts of a model that are always run as a whole; the model itself if it never exits.

    Args:
        model: any classifier or panel.
        example: one image; each part comes with one example of what it reads: the image, or features of it.
    """
    if not exits_early(model):
        return [(model, example)]
    if isinstance(model, TrunkedEnsemble):
        return [(model.trunk, example), *whole_parts(model.ensemble, _features(model.trunk, example))]
    assert isinstance(model, Panel | VotingEnsemble | EarlyExitEnsemble)
    return [part for member in model.members for part in whole_parts(member, example)]


def _features(trunk: nn.Module, example: torch.Tensor) -> torch.Tensor:
    """Return what a trunk makes of one image, on the CPU like the image."""
    device = next((tensor.device for tensor in (*trunk.parameters(), *trunk.buffers())), example.device)
    with torch.no_grad():
        features: torch.Tensor = trunk(padded(example.unsqueeze(0)).to(device))[0]
    return features.to(example.device)


def counted(
    model: nn.Module, batch: torch.Tensor, run: Callable[[nn.Module, torch.Tensor], torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a model's logits and the network evaluations of every row; of a multi-head network, those of heads.

    Evaluations are what a classifier costs by itself: a panel's ensembles are charged for their members, as they are.

    Args:
        model: a classifier: logits (rows, classes), evaluations (rows,); or a panel: (rows, answers, classes)
            and (rows, answers).
        batch: noisy images.
        run: executes one of `whole_parts(model)`.
    """
    if isinstance(model, EarlyExitEnsemble):
        return model.vote(batch, lambda member, part: counted(member, part, run))
    if not exits_early(model):
        each = model.evaluations_per_vote if isinstance(model, Priced) else 1
        assert isinstance(each, int)
        return run(model, batch), torch.full((len(batch),), each, dtype=torch.int64, device=batch.device)
    if isinstance(model, TrunkedEnsemble):
        return counted(model.ensemble, run(model.trunk, batch), run)
    assert isinstance(model, Panel | VotingEnsemble)
    asked = [counted(member, batch, run) for member in model.members]
    members = torch.stack([logits for logits, _ in asked], dim=1)
    passes = torch.stack([cost for _, cost in asked], dim=1)
    if not isinstance(model, Panel):
        return model.combine(members), passes.sum(dim=1)
    costs = [_cost(ensemble, members, passes).unsqueeze(1) for ensemble in model.ensembles]
    return model.combine(members), torch.cat([passes, *costs], dim=1)


def _cost(ensemble: nn.Module, members: torch.Tensor, passes: torch.Tensor) -> torch.Tensor:
    """Return the evaluations of an ensemble by itself, (rows,), from its members' logits and their evaluations."""
    if isinstance(ensemble, EarlyExitEnsemble):
        return (passes * ensemble.asked(members)).sum(dim=1)
    return passes.sum(dim=1)
