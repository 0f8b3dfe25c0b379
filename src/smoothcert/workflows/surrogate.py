"""The network whose gradient an attack follows, where the attacked classifier has no useful one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError, SmoothcertError
from smoothcert.networks import MIN_ROWS, answer_of, surrogate_of
from smoothcert.visible import brief


class CalledAsItIs(nn.Module):
    """A function as a module without weights, for attacks. Not understood by any engine, and never certified.

    Args:
        function: batch -> logits.
    """

    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the function's logits, with their gradient if it keeps one."""
        return answer_of(self.function, batch)

    def extra_repr(self) -> str:
        """Name the function."""
        return repr(self.function)


def surrogate(model: Any) -> nn.Module:
    """Return a module with the classifier's weights and a gradient: itself, or its members voting softly.

    Not what is judged: whether a change breaks the classifier is always asked of the classifier itself.

    Args:
        model: a torch module, or a function; whether that has a gradient, `refuse_without_gradient` finds out.
    """
    return surrogate_of(model) if isinstance(model, nn.Module) else CalledAsItIs(model)


def refuse_without_gradient(network: nn.Module, image: torch.Tensor) -> None:
    """Refuse a network whose answers are not connected to the image by torch's autograd; asks it once.

    Args:
        network: what `surrogate` returned.
        image: one of the images.
    """
    batch = image.expand(MIN_ROWS, *image.shape).clone().requires_grad_()
    try:
        with torch.enable_grad():
            answer = answer_of(network, batch)
    except SmoothcertError:
        raise
    except Exception as error:  # the model's own code, such as .numpy() of what carries a gradient
        raise InvalidArgumentError(_sentence(network, f"it raised {brief(error)}")) from error
    if not answer.requires_grad:
        raise InvalidArgumentError(
            _sentence(network, "it left torch, or detached them, as NumPy, ONNX Runtime and scikit-learn do")
        )


def _sentence(network: nn.Module, reason: str) -> str:
    name = brief(network.function if isinstance(network, CalledAsItIs) else type(network).__name__)
    return (
        f"an attack follows gradients, but the answers of the model {name} are not connected to the image by torch's "
        f"autograd: {reason}; attack the torch network itself, or a function of torch operations"
    )
