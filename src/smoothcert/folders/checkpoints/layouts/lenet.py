"""LeNets: conv1, conv2, fc1, fc2 for MNIST, and conv_1, .. fc_3 for CIFAR."""

from __future__ import annotations

from smoothcert.folders.checkpoints.layout import Entries, Layout, Placed, by_rules, renamed


def _place(entries: Entries) -> Placed:
    """Tell the two by the number of their linear layers, the first of which stands behind a flattening."""
    dash = "_" if "fc_1.weight" in entries else ""
    is_long = f"fc{dash}3.weight" in entries
    last = f"fc{dash}{3 if is_long else 2}"
    rules = [
        (f"conv{dash}1", "network.stage1.0"),
        (f"conv{dash}2", "network.stage2.0"),
        (f"fc{dash}1", "network.stage3.1"),
        (last, "network.classifier"),
        (f"fc{dash}2", "network.stage4.0"),
    ]
    return Placed(
        architecture="lenet-cifar" if is_long else "lenet",
        names=renamed(entries, by_rules(rules)),
        first=f"conv{dash}1.weight",
        last=f"{last}.weight",
    )


LENET = Layout(summary="LeNet (conv1, conv2, fc1, fc2)", mark=r"fc_?1\.weight", place=_place)
