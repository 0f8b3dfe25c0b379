"""Networks by name: the registry of architectures, and the note on a model how it was built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import nn
from smoothcert.registry import Registry
from smoothcert.visible import brief

Figures = Mapping[str, tuple[int, int]]
"""Trainable parameters, and multiply-adds of one image's forward pass, of every stage by name, in order."""


@dataclass(frozen=True)
class Architecture:
    """How to build one kind of network.

    Not a network: it holds no weights.

    Args:
        summary: one line for listings.
        input_shape: shape of the images it was made for, used when none is given.
        build: from the number of classes and the shape of one image to a network without normalisation. Heads are
            given to networks that can be cut: an `nn.Sequential` of named stages, or a `StagedNetwork`.
        least_side: smallest height and width it takes, in pixels; below it some layer would get no pixels.
        num_classes: number of classes it was made for, used by listings.
        figures: size and price at that shape and number of classes, so that listings need not build it; None
            where they must.
        heads_begin: the stage before which heads begin where nothing is said; None for the last one with parameters.
    """

    summary: str
    input_shape: tuple[int, ...]
    build: Callable[[int, tuple[int, ...]], nn.Module]
    least_side: int = 1
    num_classes: int = 10
    figures: Figures | None = None
    heads_begin: str | None = None

    def refuse_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Raise if the network, called `name`, cannot take images of this shape."""
        if len(shape) != len(self.input_shape) or min(shape[1:], default=self.least_side) < self.least_side:
            raise InvalidArgumentError(
                f"{name} needs input_shape (channels, height, width) with sides of at least "
                f"{self.least_side}, got {shape}"
            )


MODELS: Registry[Architecture] = Registry("model", "smoothcert.networks.architectures", Architecture)


def build_network(name: str, num_classes: int, shape: tuple[int, ...]) -> nn.Module:
    """Build a registered network without normalisation; what another package's code raises becomes one sentence.

    Args:
        name: a name in `MODELS`.
        num_classes: number of classes.
        shape: of one image.
    """
    package = MODELS.package_of(name)
    try:
        return MODELS[name].build(num_classes, shape)
    except Exception as error:
        if package is None:
            raise
        raise InvalidArgumentError(
            f"model {name!r} of package {package.name} {package.version} cannot be built for {num_classes} classes "
            f"and images of shape {shape}: {brief(error)}"
        ) from error


Build = Callable[[], "nn.Module"]

# A plain attribute of an nn.Sequential, not a class of its own: class names are part of a model's identity, and that
# of networks certified before must stay as it is.
_BUILD = "_build_again"


def remember_build(model: nn.Module, build: Build) -> None:
    """Note on a model how its network is built again, without normalisation and with fresh weights."""
    vars(model)[_BUILD] = build


def remembered_build(model: nn.Module) -> Build | None:
    """Return what was noted; None for a model that `create_model` did not make."""
    build: Build | None = vars(model).get(_BUILD)
    return build
