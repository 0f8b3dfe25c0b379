"""LeNet: two convolutions and a few linear layers."""

from __future__ import annotations

from collections import OrderedDict

from smoothcert.on_demand import nn

_KERNEL = 5


def lenet(
    num_classes: int,
    input_shape: tuple[int, ...],
    *,
    widths: tuple[int, int] = (20, 50),
    hidden: tuple[int, ...] = (500,),
) -> nn.Sequential:
    """Build two 5x5 convolutions with ReLU and 2x2 max pools, hidden layers with ReLU, and a linear layer.

    431,080 parameters on 1x28x28 images with 10 classes. Weights start from torch's own laws.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 16 pixels high and wide.
        widths: channels of the two convolutions.
        hidden: units of each hidden layer.
    """
    channels, *sides = input_shape
    height, width = (((side - 4) // 2 - 4) // 2 for side in sides)
    stages: OrderedDict[str, nn.Module] = OrderedDict(
        stage1=nn.Sequential(nn.Conv2d(channels, widths[0], _KERNEL), nn.ReLU(), nn.MaxPool2d(2)),
        stage2=nn.Sequential(nn.Conv2d(*widths, _KERNEL), nn.ReLU(), nn.MaxPool2d(2)),
    )
    features = widths[1] * height * width
    for number, units in enumerate(hidden, start=3):
        flatten = [nn.Flatten()] if number == 3 else []
        stages[f"stage{number}"] = nn.Sequential(*flatten, nn.Linear(features, units), nn.ReLU())
        features = units
    stages["classifier"] = nn.Linear(features, num_classes)
    return nn.Sequential(stages)
