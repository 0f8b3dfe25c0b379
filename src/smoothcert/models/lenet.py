"""LeNet for 28x28 images, as the field certifies MNIST with it."""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.models.architecture import MODELS, Architecture

_WIDTHS, _HIDDEN, _KERNEL = (20, 50), 500, 5


def lenet(num_classes: int, input_shape: tuple[int, ...]) -> nn.Module:
    """Build two 5x5 convolutions (20, 50) with 2x2 max pools, a hidden layer of 500 and a linear layer.

    431,080 parameters on 1x28x28 images with 10 classes.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 16 pixels high and wide.
    """
    if len(input_shape) != 3 or min(input_shape[1:]) < 16:
        raise InvalidArgumentError(
            f"lenet needs input_shape (channels, height, width) with sides of at least 16, got {input_shape}"
        )
    channels, *sides = input_shape
    height, width = (((side - 4) // 2 - 4) // 2 for side in sides)
    stages = OrderedDict(
        stage1=nn.Sequential(nn.Conv2d(channels, _WIDTHS[0], _KERNEL), nn.ReLU(), nn.MaxPool2d(2)),
        stage2=nn.Sequential(nn.Conv2d(*_WIDTHS, _KERNEL), nn.ReLU(), nn.MaxPool2d(2)),
        stage3=nn.Sequential(nn.Flatten(), nn.Linear(_WIDTHS[1] * height * width, _HIDDEN), nn.ReLU()),
        classifier=nn.Linear(_HIDDEN, num_classes),
    )
    return nn.Sequential(stages)


MODELS.register("lenet")(
    Architecture(
        summary="two 5x5 convolutions (20, 50) and a hidden layer of 500, for 28x28 images",
        input_shape=(1, 28, 28),
        build=lenet,
    )
)
