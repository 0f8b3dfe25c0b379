"""A small convolutional network that trains on 8x8 digits in seconds."""

from __future__ import annotations

import torch
from torch import nn

_WIDTHS = (8, 16, 16)


class ConvNet(nn.Module):
    """Three 3x3 convolutions with batch norm and ReLU, a 2x2 max pool after the first two, one linear layer.

    Not meant for photographs: it has 4,258 parameters on 1x8x8 images with 10 classes.
    Weights start from torch's own laws.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 4 pixels high and wide.
    """

    def __init__(self, num_classes: int, input_shape: tuple[int, ...]) -> None:
        super().__init__()
        channels, height, width = input_shape
        layers: list[nn.Module] = []
        for stage, out in enumerate(_WIDTHS):
            # No bias: the batch norm that follows has one.
            layers += [nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            if stage < 2:
                layers.append(nn.MaxPool2d(2))
            channels = out
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels * (height // 4) * (width // 4), num_classes)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits, (rows, num_classes)."""
        logits: torch.Tensor = self.classifier(self.features(batch).flatten(1))
        return logits

    def stages(self) -> tuple[tuple[str, nn.Module], ...]:
        """Return the named stages that, run in order, are the network; they share its weights.

        Not the tree of modules: the names in saved weights come from `features` and `classifier`.
        """
        return (
            ("stage1", self.features[:4]),
            ("stage2", self.features[4:8]),
            ("stage3", self.features[8:]),
            ("pool", nn.Flatten()),
            ("classifier", self.classifier),
        )
