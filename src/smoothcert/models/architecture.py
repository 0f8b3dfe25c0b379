"""Networks by name: the table of architectures, and the one function that builds from it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.models.normalize import Normalize
from smoothcert.registry import Registry


@dataclass(frozen=True)
class Architecture:
    """How to build one kind of network.

    Not a network: it holds no weights.

    Args:
        summary: one line for listings.
        input_shape: shape of the images it was made for, used when none is given.
        build: from the number of classes and the shape of one image to a network without normalisation.
        least_side: smallest height and width it takes, in pixels; below it some layer would get no pixels.
        num_classes: number of classes it was made for, used by listings.
    """

    summary: str
    input_shape: tuple[int, ...]
    build: Callable[[int, tuple[int, ...]], nn.Module]
    least_side: int = 1
    num_classes: int = 10

    def refuse_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Raise if the network, called `name`, cannot take images of this shape."""
        if len(shape) != len(self.input_shape) or min(shape[1:], default=self.least_side) < self.least_side:
            raise InvalidArgumentError(
                f"{name} needs input_shape (channels, height, width) with sides of at least "
                f"{self.least_side}, got {shape}"
            )


MODELS: Registry[Architecture] = Registry("model")


def create_model(
    name: str,
    *,
    num_classes: int,
    input_shape: Sequence[int] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
) -> nn.Module:
    """Build a network whose first layer normalises; its weights come from torch's global random state.

    Args:
        name: a name in `MODELS`, e.g. "convnet".
        num_classes: number of classes, at least 2.
        input_shape: shape of one image, e.g. (1, 8, 8); the architecture's own when left out.
        mean: per-channel mean in pixel units; default 0.
        std: per-channel standard deviation in pixel units; default 1.
    """
    architecture = MODELS[name]
    if num_classes < 2:
        raise InvalidArgumentError(f"num_classes must be at least 2, got {num_classes!r}")
    shape = architecture.input_shape if input_shape is None else tuple(input_shape)
    if not shape or not all(side >= 1 for side in shape):
        raise InvalidArgumentError(f"input_shape must hold positive numbers only, got {shape}")
    architecture.refuse_shape(name, shape)
    network = architecture.build(num_classes, shape)
    return nn.Sequential(OrderedDict(normalize=Normalize(shape, mean, std), network=network))
