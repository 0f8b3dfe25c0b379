"""Residual networks as torchvision names them, and all code for 32x32 images that follows it; also with heads."""

from __future__ import annotations

import re

from smoothcert.folders.checkpoints.layout import Entries, Layout, Placed, by_rules, renamed

_BLOCK = {
    "conv1": "body.0",
    "bn1": "body.1",
    "conv2": "body.3",
    "bn2": "body.4",
    "conv3": "body.6",
    "bn3": "body.7",
    r"downsample\.0": "shortcut.0",
    r"downsample\.1": "shortcut.1",
}


def _place(entries: Entries) -> Placed:
    """Tell the network by the number of its blocks; heads hold the last stage and a linear layer each."""
    heads = len({name.split(".")[1] for name in entries if re.match(r"heads\.\d+\.", name)})
    trunk = {int(stage[1]) for name in entries if (stage := re.match(r"layer(\d)\.", name))}
    home = "trunk" if heads else "network"
    rules = [("conv1", f"{home}.stem.0"), ("bn1", f"{home}.stem.1"), ("fc", "network.classifier")]
    for theirs, ours in _BLOCK.items():
        rules += [
            (rf"layer(\d)\.(\d+)\.{theirs}", rf"{home}.stage\1.\2.{ours}"),
            (rf"heads\.(\d+)\.0\.(\d+)\.{theirs}", rf"heads.\1.stage{max(trunk) + 1}.\2.{ours}"),
        ]
    rules.append((r"heads\.(\d+)\.1", r"heads.\1.classifier"))
    return Placed(
        architecture=f"resnet{_depth(entries)}",
        names=renamed(entries, by_rules(rules)),
        first="conv1.weight",
        last="heads.0.1.weight" if heads else "fc.weight",
        heads=heads or None,
    )


def _depth(entries: Entries) -> int:
    """Count layers as the names of residual networks do: those of the blocks, the first and the last."""
    first = re.compile(r"(layer\d\.\d+|heads\.0\.0\.\d+)\.conv1\.weight")
    blocks = sum(first.fullmatch(name) is not None for name in entries)
    return blocks * (3 if "layer1.0.conv3.weight" in entries else 2) + 2


RESIDUAL = Layout(
    summary="residual network (conv1, bn1, layer1, .. and fc, or heads.0, ..)",
    mark=r"layer1\.0\.conv1\.weight",
    place=_place,
)
