"""The network whose gradient an attack follows, where the attacked classifier has no useful one."""

from __future__ import annotations

from typing import Any

from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import surrogate_of


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
    return surrogate_of(model)
