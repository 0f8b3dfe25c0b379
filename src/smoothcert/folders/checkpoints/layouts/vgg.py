"""VGG networks with batch norm: features.0, features.1, .. in one sequence, and one linear layer."""

from __future__ import annotations

import re

from smoothcert.folders.checkpoints.layout import Entries, Layout, Placed, renamed

_PERIOD = 3  # convolution, batch norm, activation; a pool is one more


def _place(entries: Entries) -> Placed:
    """Begin a stage wherever the number of a convolution shows that a pool stands before it."""
    convolutions = sorted(
        int(name.split(".")[1])
        for name, (_, shape) in entries.items()
        if len(shape) == 4 and re.fullmatch(r"features\.\d{1,3}\.weight", name)
    )
    places, stage, layer, last = {"classifier": "network.classifier"}, 1, 0, -_PERIOD
    for number in convolutions:
        if number == last + _PERIOD + 1:
            stage, layer = stage + 1, 0
        for more in (0, 1):  # the batch norm follows
            places[f"features.{number + more}"] = f"network.stage{stage}.{layer + more}"
        layer, last = layer + _PERIOD, number
    return Placed(
        architecture=f"vgg{len(convolutions) + 3}",  # named after the original, which has three linear layers
        names=renamed(entries, places.get),
        first="features.0.weight",
        last="classifier.weight",
    )


VGG = Layout(
    summary="VGG network with batch norm and one linear layer (features.0, .. and classifier)",
    mark=r"features\.1\.running_mean",
    place=_place,
)
