"""AlexNet for 32x32 images: features.0, .. features.10 and one linear layer fc."""

from __future__ import annotations

from smoothcert.folders.checkpoints.layout import Entries, Layout, Placed, by_rules, renamed

_STAGES = {
    0: "stem",
    3: "stage1",
    6: "stage2",
    8: "stage3",
    10: "stage4",
}  # activations and pools lie between


def _place(entries: Entries) -> Placed:
    """Put the five convolutions at the beginnings of our stages."""
    rules = [(rf"features\.{number}", f"network.{stage}.0") for number, stage in _STAGES.items()]
    return Placed(
        architecture="alexnet",
        names=renamed(entries, by_rules([*rules, ("fc", "network.classifier")])),
        first="features.0.weight",
        last="fc.weight",
    )


ALEXNET = Layout(
    summary="AlexNet for 32x32 images (features.0, .. and fc)",
    mark=r"features\.6\.weight",  # a pool in the VGG networks, which have such names too
    place=_place,
)
