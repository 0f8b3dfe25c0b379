"""The network whose gradient an attack follows, where the attacked classifier has no useful one."""

from __future__ import annotations

from typing import Any

from torch import nn

from smoothcert.ensembles import EarlyExitEnsemble, VotingEnsemble
from smoothcert.errors import InvalidArgumentError

_FLAT = ("hard",)  # rules whose answers are counts, with a gradient of zero almost everywhere


def surrogate(model: Any) -> nn.Module:
    """Return a module with the classifier's weights and a gradient: itself, or its members voting softly.

    Not what is judged: whether a change breaks the classifier is always asked of the classifier itself.

    Args:
        model: a torch module; other callables have no gradient and are refused.
    """
    if not isinstance(model, nn.Module):
        raise InvalidArgumentError(
            f"an attack by gradients needs a torch module, got {type(model).__name__}; wrap it in a torch.nn.Module"
        )
    # Leaving early changes a vote now and then, and blocks gradients.
    if isinstance(model, EarlyExitEnsemble):
        return surrogate(model.ensemble)
    if isinstance(model, VotingEnsemble) and model.rule in _FLAT:
        return VotingEnsemble(list(model.members), rule="softmax")
    return model
