"""From members and the entries of a card to the ensemble."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from smoothcert.ensembles import EarlyExit, EarlyExitEnsemble, TrunkedEnsemble, VotingEnsemble, chosen_heads
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import Composite, multi_head_of


def ensemble_from(
    members: Sequence[nn.Module],
    rule: str,
    weights: Sequence[float] | None,
    early_exit: EarlyExit | None,
    heads: Sequence[int] | None = None,
) -> Composite:
    """Build an ensemble from its members and the entries of its card; arguments as for `save_ensemble`."""
    if heads is None:
        return _over(members, rule, weights, early_exit)
    network = multi_head_of(*members)
    if network is None:
        raise InvalidArgumentError(
            f"heads {list(heads)} are asked for, but only a single multi-head network has them; got "
            f"{', '.join(type(member).__name__ for member in members)}"
        )
    return TrunkedEnsemble(network.trunk, _over(chosen_heads(network, heads), rule, weights, early_exit))


def _over(
    members: Sequence[nn.Module], rule: str, weights: Sequence[float] | None, early_exit: EarlyExit | None
) -> VotingEnsemble | EarlyExitEnsemble:
    ensemble = VotingEnsemble(members, rule, weights)
    return ensemble if early_exit is None else early_exit.over(ensemble)
