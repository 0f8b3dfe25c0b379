"""What a run's manifest says about an ensemble: its members, its rule, and when it stops asking."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn

from smoothcert.certificates.identity import identities
from smoothcert.ensembles import (
    AdaptiveEnsemble,
    ConsensusEnsemble,
    EarlyExitEnsemble,
    Panel,
    TrunkedEnsemble,
    VotingEnsemble,
    exits_early,
)
from smoothcert.networks import MultiHead, one_headed


def ensemble_records(model: Any) -> tuple[dict[str, Any] | None, ...]:
    """Return one record per answer of a model; None for what is no ensemble.

    Not needed to tell two ensembles apart, which their identity does: it lets a reader of the run find the members,
    and compute how often a consensus spared the others.
    """
    parts = model.classifiers if isinstance(model, Panel) else (model,)
    return tuple(_record_if_any(part) for part in parts)


def _record_if_any(model: Any) -> dict[str, Any] | None:
    if isinstance(model, TrunkedEnsemble):
        return {**_record(model.ensemble), "members": _heads(model.trunk, model.members)}
    if isinstance(model, MultiHead):
        return {
            "kind": type(model).__name__,
            "rule": "soft",
            "members": _heads(model.trunk, model.heads),
            "evaluations_per_vote": model.evaluations_per_vote,
        }
    return _record(model) if isinstance(model, VotingEnsemble | EarlyExitEnsemble) else None


def _heads(trunk: nn.Module, heads: Iterable[nn.Module]) -> list[str]:
    """Return the identities that heads have where they are certified alone."""
    return [identities(one_headed(trunk, head))[0] for head in heads]


def _record(model: VotingEnsemble | EarlyExitEnsemble) -> dict[str, Any]:
    voting = model if isinstance(model, VotingEnsemble) else model.ensemble
    record: dict[str, Any] = {
        "kind": type(model).__name__,
        "rule": voting.rule,
        "members": [identities(member)[0] for member in model.members],
        "evaluations_per_vote": model.evaluations_per_vote,
    }
    if isinstance(model, AdaptiveEnsemble):
        record["adaptive"] = {"threshold": model.threshold, "alpha": model.alpha}
    if isinstance(model, ConsensusEnsemble):
        first = list(model.members)[: model.k]
        # Unknown where a first member stops early itself: its votes differ in cost.
        record["consensus"] = model.k
        record["first_evaluations"] = (
            None
            if any(exits_early(member) for member in model.members)
            else sum(int(getattr(member, "evaluations_per_vote", 1)) for member in first)
        )
    return record
