"""The state a network is in while it is attacked, and its way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from smoothcert.on_demand import nn


@contextmanager
def attacked(model: nn.Module) -> Iterator[None]:
    """Put a network into eval mode with frozen weights for a while, then back exactly as found.

    Not a copy: the same network is used, so the attack sees the weights of this training step. Eval mode keeps
    batch-norm statistics and makes images independent of each other; frozen weights save the third of a backward
    pass that an attack has no use for. Everything is put back also when the body raises.

    Args:
        model: the network under attack; a plain `nn.Module`, as the flags of its submodules are set one by one.
    """
    modes = [(module, module.training) for module in model.modules()]
    weights = [(weight, weight.requires_grad, weight.grad) for weight in model.parameters()]
    try:
        # Flags, not `model.eval()`: a model may override that with effects that could not be undone.
        for module, _ in modes:
            module.training = False
        for weight, _, _ in weights:
            weight.requires_grad_(False)
        yield
    finally:
        for module, mode in modes:
            module.training = mode
        for weight, required, gradient in weights:
            weight.requires_grad_(required)
            weight.grad = gradient
