"""What networks there are, with their size and price."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch

from smoothcert.networks.architecture import MODELS, build_network
from smoothcert.networks.creation import create_model
from smoothcert.networks.flops import forward_flops
from smoothcert.networks.stages import has_stages, network_stages


@dataclass(frozen=True)
class ModelDescription:
    """One line of the listing of networks.

    Not a measurement of time: operations say little across kinds of layers.

    Args:
        name: in `MODELS`.
        summary: one line on the layers.
        input_shape: shape of the images the figures are for, (channels, height, width).
        least_side: smallest height and width it takes, in pixels.
        num_classes: number of classes the figures are for.
        parameters: trainable parameters.
        multiply_adds: of one image's forward pass, matrix work only, as papers count (they call them FLOPs).
        stages: names of the stages, in order; the network can be cut before each; none if it cannot.
    """

    name: str
    summary: str
    input_shape: tuple[int, ...]
    least_side: int
    num_classes: int
    parameters: int
    multiply_adds: int
    stages: tuple[str, ...]


@cache
def describe_model(name: str, heads: int | None = None, split: str | None = None) -> ModelDescription:
    """Describe one network of `MODELS` at its own input shape and number of classes.

    Built on the meta device: no weight is drawn and nothing is computed.

    Args:
        name: in `MODELS`.
        heads: count parameters and operations of so many heads on one trunk; a plain network when left out.
        split: where the heads begin, for `resolve_split`.
    """
    architecture = MODELS[name]
    shape = architecture.input_shape
    with torch.device("meta"):
        # Without the normalisation, which has neither parameters nor matrix work.
        plain = build_network(name, architecture.num_classes, shape).eval()
        network = plain
        if heads is not None:
            classes = architecture.num_classes
            network = create_model(
                name, num_classes=classes, input_shape=shape, heads=heads, split=split
            ).eval()
        flops = forward_flops(network, torch.empty(shape))
    return ModelDescription(
        name=name,
        summary=architecture.summary,
        input_shape=shape,
        least_side=architecture.least_side,
        num_classes=architecture.num_classes,
        parameters=sum(weights.numel() for weights in network.parameters() if weights.requires_grad),
        multiply_adds=flops // 2,
        stages=tuple(stage for stage, _ in network_stages(plain)) if has_stages(plain) else (),
    )


def describe_models() -> tuple[ModelDescription, ...]:
    """Describe every network of `MODELS`, by name."""
    return tuple(describe_model(name) for name in MODELS)
