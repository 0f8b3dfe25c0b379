"""Answers together with what they cost: network evaluations, row by row."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from smoothcert.ensembles.early_exit import EarlyExitEnsemble
from smoothcert.ensembles.panel import Panel
from smoothcert.ensembles.voting import VotingEnsemble


def exits_early(model: nn.Module) -> bool:
    """Return whether the votes of a model, or of a member of it at any depth, differ in cost."""
    if isinstance(model, Panel):
        return exits_early(model.ensemble)
    if isinstance(model, VotingEnsemble):
        return any(exits_early(member) for member in model.members)
    return isinstance(model, EarlyExitEnsemble)


def whole_parts(model: nn.Module) -> list[nn.Module]:
    """Return the largest parts of a model that are always run as a whole; the model itself if it never exits."""
    if not exits_early(model):
        return [model]
    ensemble = model.ensemble if isinstance(model, Panel) else model
    assert isinstance(ensemble, VotingEnsemble | EarlyExitEnsemble)
    return [part for member in ensemble.members for part in whole_parts(member)]


def counted(
    model: nn.Module, batch: torch.Tensor, run: Callable[[nn.Module, torch.Tensor], torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a model's logits and the network evaluations of every row.

    Evaluations are what a classifier costs by itself: a panel's ensemble is charged for its members, as they are.

    Args:
        model: a classifier: logits (rows, classes), evaluations (rows,); or a panel: (rows, answers, classes)
            and (rows, answers).
        batch: noisy images.
        run: executes one of `whole_parts(model)`.
    """
    if isinstance(model, EarlyExitEnsemble):
        return model.vote(batch, lambda member, part: counted(member, part, run))
    if not exits_early(model):
        each = model.evaluations_per_vote if isinstance(model, VotingEnsemble) else 1
        return run(model, batch), torch.full((len(batch),), each, dtype=torch.int64, device=batch.device)
    ensemble = model.ensemble if isinstance(model, Panel) else model
    assert isinstance(ensemble, VotingEnsemble | EarlyExitEnsemble)
    asked = [counted(member, batch, run) for member in ensemble.members]
    members = torch.stack([logits for logits, _ in asked], dim=1)
    passes = torch.stack([cost for _, cost in asked], dim=1)
    answer, cost = ensemble.combine(members), passes.sum(dim=1)
    if not isinstance(model, Panel):
        return answer, cost
    if isinstance(ensemble, EarlyExitEnsemble):
        cost = (passes * ensemble.asked(members)).sum(dim=1)
    return torch.cat([members, answer.unsqueeze(1)], dim=1), torch.cat([passes, cost.unsqueeze(1)], dim=1)
