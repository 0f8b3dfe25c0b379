"""Where heads may begin: borders by name or by the share of layers that a head holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.networks.architecture import MODELS, build_network
from smoothcert.networks.stages import Stages, network_stages

_LAYERS = (nn.Conv2d, nn.Linear)


@dataclass(frozen=True)
class Border:
    """A place where a network can be cut.

    Args:
        name: of the head's first stage, "stage3", or of its first block inside a stage, "stage3.9".
        layers: convolutions (those of shortcuts included) and linear layers from there to the end.
    """

    name: str
    layers: int


def borders_of(stages: Stages) -> tuple[Border, ...]:
    """Return where a network can be cut, from its first stage on: before stages, and between blocks inside them.

    Not between a layer and its batch norm or activation: a block begins with each child that holds a layer.

    Args:
        stages: of the network, in order, without the normalisation.
    """
    borders, left = [], sum(_count(module) for _, module in stages)
    for stage, module in stages:
        borders.append(Border(stage, left))
        blocks = list(module.named_children()) if isinstance(module, nn.Sequential) else []
        inside = left
        for number, (block, child) in enumerate(blocks):
            if number > 0 and _count(child) > 0 and inside < left:
                borders.append(Border(f"{stage}.{block}", inside))
            inside -= _count(child)
        left -= _count(module)
    return tuple(borders)


def resolve_split(stages: Stages, split: str | None) -> str:
    """Return the name of the border that a split means.

    A share is that of layers in one head, as in the paper: "34%" is the nearest border by number of layers, the
    later of two equally near ones. "0%" is the last linear layer alone, the smallest head there is (the paper's
    0% is a network without heads), "100%" the whole network, with a trunk that only normalises.

    Args:
        stages: of the network, in order, without the normalisation.
        split: a stage, a block inside one ("stage3.9"), a share ("34%"), or None: before the last residual
            stage, and before the last layer with weights in networks that have none.
    """
    borders = borders_of(stages)
    if split is None:
        residual = [
            stage
            for stage, module in stages
            if any(getattr(part, "is_residual", False) is True for part in module.modules())
        ]
        weighted = [stage for stage, module in stages if any(True for _ in module.parameters())]
        return (residual or weighted)[-1]
    if not isinstance(split, str):
        raise InvalidArgumentError(
            f'split must be a stage such as "stage3" or a share such as "34%", got {split!r}'
        )
    if split.endswith("%"):
        wanted = _share(split) * borders[0].layers
        return min(reversed(borders), key=lambda border: abs(border.layers - wanted)).name
    if split == "normalize":
        raise InvalidArgumentError(
            f"split={split!r} leaves no trunk: the normalisation always belongs to it; "
            f'"100%" (split={borders[0].name!r}) makes every head a whole network'
        )
    if split not in {border.name for border in borders}:
        known = ", ".join(stage for stage, _ in stages)
        inside = [border.name for border in borders if "." in border.name]
        example = f", before a block such as {inside[-1]}" if inside else ""
        raise UnknownNameError(
            f"unknown split {split!r}; heads can begin before: {known}{example}, "
            'or hold a share of layers such as "34%"'
        )
    return split


def refuse_split(name: str, split: str | None) -> None:
    """Raise if heads of the network called `name` cannot begin there; draws no weights and computes nothing."""
    resolve_split(_described_stages(name), split)


@cache
def _described_stages(name: str) -> Stages:
    architecture = MODELS[name]
    with torch.device("meta"):
        return network_stages(build_network(name, architecture.num_classes, architecture.input_shape))


def _share(split: str) -> float:
    try:
        share = float(split[:-1]) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InvalidArgumentError(f'split must be a share of layers from "0%" to "100%", got {split!r}')
    return share


def _count(module: nn.Module) -> int:
    """Return the number of layers, those of shortcuts included."""
    return sum(isinstance(layer, _LAYERS) for layer in module.modules())
