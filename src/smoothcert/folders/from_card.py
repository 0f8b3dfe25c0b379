"""From members and the entries of a card to the ensemble."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from smoothcert.ensembles import (
    AdaptiveEnsemble,
    ConsensusEnsemble,
    EarlyExitEnsemble,
    TrunkedEnsemble,
    VotingEnsemble,
    chosen_heads,
)
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders.ensemble_card import AdaptiveEntry
from smoothcert.networks import MultiHead


def assembled(
    members: Sequence[nn.Module],
    rule: str,
    weights: Sequence[float] | None,
    consensus: int | None,
    adaptive: AdaptiveEntry | None,
    heads: Sequence[int] | None = None,
) -> nn.Module:
    """Build an ensemble from its members and the entries of its card; arguments as for `save_ensemble`."""
    if heads is not None:
        if len(members) != 1 or not isinstance(members[0], MultiHead):
            raise InvalidArgumentError(
                f"heads {list(heads)} are asked for, but only a single multi-head network has them; got "
                f"{', '.join(type(member).__name__ for member in members)}"
            )
        chosen = chosen_heads(members[0], heads)
        ensemble = assembled(chosen, rule, weights, consensus, adaptive)
        assert isinstance(ensemble, VotingEnsemble | EarlyExitEnsemble)
        return TrunkedEnsemble(members[0].trunk, ensemble)
    ensemble = VotingEnsemble(members, rule, weights)
    if consensus is not None and adaptive is not None:
        raise InvalidArgumentError("consensus and adaptive both stop early; choose one of them")
    if consensus is not None:
        return ConsensusEnsemble(ensemble, consensus)
    if adaptive is not None:
        return AdaptiveEnsemble(ensemble, adaptive.threshold, adaptive.alpha)
    return ensemble
