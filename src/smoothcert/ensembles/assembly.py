"""From members and the entries of a card to the ensemble."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from smoothcert.ensembles.adaptive import AdaptiveEnsemble
from smoothcert.ensembles.card import AdaptiveEntry
from smoothcert.ensembles.consensus import ConsensusEnsemble
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError


def assembled(
    members: Sequence[nn.Module],
    rule: str,
    weights: Sequence[float] | None,
    consensus: int | None,
    adaptive: AdaptiveEntry | None,
) -> nn.Module:
    """Build an ensemble from its members and the entries of its card; arguments as for `save_ensemble`."""
    ensemble = VotingEnsemble(members, rule, weights)
    if consensus is not None and adaptive is not None:
        raise InvalidArgumentError("consensus and adaptive both stop early; choose one of them")
    if consensus is not None:
        return ConsensusEnsemble(ensemble, consensus)
    if adaptive is not None:
        return AdaptiveEnsemble(ensemble, adaptive.threshold, adaptive.alpha)
    return ensemble
