"""DenseNet-BC for 32x32 images, in two spellings: block1.layer1.brc_1.norm, and denseblock1.denselayer1.norm1."""

from __future__ import annotations

import re

from smoothcert.folders.checkpoints.layout import Entries, Layout, Placed, by_rules, renamed

_LAYER = re.compile(
    r"features\.(?:dense)?block(\d)\.(?:dense)?layer(\d{1,4})\.(?:brc_([12])\.)?(norm|conv)([12])?"
)
_BETWEEN = re.compile(r"features\.(?:trans(\d)\.brc|transition(\d))\.(norm|conv)")
_WITHOUT_LAYERS = by_rules(
    [
        (r"features\.conv0", "network.stem"),
        (r"features\.(?:norm_last|norm5)", "network.pool.0"),
        ("classifier", "network.classifier"),
    ]
)
_BODY = {("norm", "1"): 0, ("conv", "1"): 2, ("norm", "2"): 3, ("conv", "2"): 5}
_TRANSITION = 4  # layers of ours: batch norm, activation, convolution, pool


def _place(entries: Entries) -> Placed:
    """Put a transition before the layers of the stage that it leads to; without weights it is a pool alone."""
    layers = {name.rpartition(".")[0] for name in entries}
    weighty = {match[1] or match[2] for name in layers if (match := _BETWEEN.fullmatch(name))}

    def ours(name: str) -> str | None:
        if (match := _LAYER.fullmatch(name)) is not None:
            before = str(int(match[1]) - 1)
            skipped = 0 if before == "0" else _TRANSITION if before in weighty else 1
            part = _BODY.get((match[4], match[3] or match[5]))
            number = int(match[2]) - 1 + skipped
            return None if part is None else f"network.stage{match[1]}.{number}.body.{part}"
        if (match := _BETWEEN.fullmatch(name)) is not None:
            return f"network.stage{int(match[1] or match[2]) + 1}.{0 if match[3] == 'norm' else 2}"
        return _WITHOUT_LAYERS(name)

    dense = {match.group(1, 2) for name in layers if (match := _LAYER.fullmatch(name))}
    return Placed(
        architecture=f"densenet{2 * len(dense) + 4}",
        names=renamed(entries, ours),
        first="features.conv0.weight",
        last="classifier.weight",
    )


DENSENET = Layout(
    summary="DenseNet-BC for 32x32 images (features.conv0, features.block1, .. and classifier)",
    mark=r"features\.(?:dense)?block1\.(?:dense)?layer1\..+",
    place=_place,
)
