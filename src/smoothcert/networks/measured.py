"""Size and price of a network, measured on one that is built where no weight is drawn and nothing is computed."""

from __future__ import annotations

import torch

from smoothcert.networks.architecture import MODELS, build_network
from smoothcert.networks.creation import create_model
from smoothcert.networks.flops import forward_flops
from smoothcert.networks.stages import has_stages, network_stages


def measured_figures(
    name: str, heads: int | None = None, split: str | None = None
) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Return the names of the stages, and trainable parameters and multiply-adds in all.

    Args:
        name: in `MODELS`.
        heads: on one trunk; a plain network when left out.
        split: where the heads begin, for `resolve_split`.
    """
    architecture = MODELS[name]
    classes, shape = architecture.num_classes, architecture.input_shape
    with torch.device("meta"):
        # Without the normalisation, which has neither parameters nor matrix work.
        plain = network = build_network(name, classes, shape).eval()
        if heads is not None:
            network = create_model(
                name, num_classes=classes, input_shape=shape, heads=heads, split=split
            ).eval()
        flops = forward_flops(network, torch.empty(shape))
    parameters = sum(weights.numel() for weights in network.parameters() if weights.requires_grad)
    stages = tuple(stage for stage, _ in network_stages(plain)) if has_stages(plain) else ()
    return stages, (parameters, flops // 2)
