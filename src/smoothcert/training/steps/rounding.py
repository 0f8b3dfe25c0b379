"""Training as if in int8: weights and inputs of every layer rounded on their way forward, and gradients as if not.

A network that has learnt with its numbers rounded loses less when it is quantised for good (Jacob et al. 2018,
Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from smoothcert.errors import InvalidArgumentError

LARGEST = {"int8": 127, "seven-bits": 64}
"""Largest rounded weight, by the name of the rounding; `quantize` rounds to the same numbers."""

_STEPS = 255  # between the least and the largest input of a layer
_LEAST_STEP = 1e-12


@contextlib.contextmanager
def simulated_rounding(model: nn.Module, rounding: str | None) -> Iterator[None]:
    """Let every convolution and linear layer round its weights and inputs for a while.

    Not the arithmetic of a quantised network, which takes its ranges from calibration images and rounds sums as well:
    here the ranges are those of the batch at hand, so that a training that continues needs no memory of earlier ones.

    Args:
        model: changed while this lasts, and only in how its layers are called.
        rounding: a name of `LARGEST`; None rounds nothing.
    """
    if rounding is None:
        yield
        return
    layers = list(_layers(model))
    for layer in layers:
        layer.forward = partial(_rounded, layer, LARGEST[rounding])  # type: ignore[method-assign]
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward  # the class's own shows again


def _layers(model: nn.Module) -> Iterator[nn.Conv2d | nn.Linear]:
    """Yield the layers to round; refuse one that calculates in a way of its own, and a network without any."""
    found = False
    for name, layer in model.named_modules():
        for kind in (nn.Conv2d, nn.Linear):
            if isinstance(layer, kind):
                found = True
                if type(layer).forward is not kind.forward or "forward" in vars(layer):
                    raise InvalidArgumentError(
                        f"rounding cannot be simulated: layer {name} ({type(layer).__name__}) has a forward pass of "
                        "its own; leave rounding out"
                    )
                yield layer
    if not found:
        raise InvalidArgumentError(
            "rounding cannot be simulated: the network has no Conv2d or Linear; leave rounding out"
        )


def _rounded(layer: nn.Conv2d | nn.Linear, largest: int, input: Tensor) -> Tensor:  # named as torch names it
    weight = _rounded_weights(layer.weight, largest)
    inputs = _rounded_inputs(input)
    if isinstance(layer, nn.Linear):
        return functional.linear(inputs, weight, layer.bias)
    answers: Tensor = layer._conv_forward(inputs, weight, layer.bias)  # which knows every way to pad
    return answers


def _rounded_weights(weight: Tensor, largest: int) -> Tensor:
    """Round each output channel to whole multiples of a step of its own; batch normalisation after it keeps them so."""
    step = (weight.detach().flatten(1).abs().amax(dim=1) / largest).clamp_min(_LEAST_STEP)
    zero = torch.zeros_like(step, dtype=torch.int32)
    return torch.fake_quantize_per_channel_affine(weight, step, zero, 0, -largest, largest)


def _rounded_inputs(inputs: Tensor) -> Tensor:
    """Round to 256 numbers between the least and the largest; zero, which padding has, is one of them."""
    low, high = torch.aminmax(inputs.detach())
    low, high = low.clamp_max(0.0), high.clamp_min(0.0)
    step = ((high - low) / _STEPS).clamp_min(_LEAST_STEP)
    zero = (-low / step).round().to(torch.int32)
    return torch.fake_quantize_per_tensor_affine(inputs, step, zero, 0, _STEPS)
