"""The one function that builds a network by name, with one head or several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks.architecture import MODELS, build_network, remember_build
from smoothcert.networks.limits import checked_classes, checked_shape
from smoothcert.networks.multi_head import multi_head
from smoothcert.networks.normalize import with_normalisation


def create_model(
    name: str,
    *,
    num_classes: int,
    input_shape: Sequence[int] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    heads: int | None = None,
    split: str | None = None,
) -> nn.Module:
    """Build a network whose first layer normalises; its weights come from torch's global random state.

    Args:
        name: a name in `MODELS`, e.g. "convnet".
        num_classes: number of classes, at least 2 and at most `MOST_CLASSES`.
        input_shape: shape of one image, e.g. (1, 8, 8); the architecture's own when left out.
        mean: per-channel mean in pixel units; default 0.
        std: per-channel standard deviation in pixel units; default 1.
        heads: give the network so many heads (a `MultiHead`); a plain network when left out.
        split: where the heads begin, for `resolve_split`; before the last residual stage when left out.
    """
    architecture = MODELS[name]
    checked_classes(num_classes)
    shape = checked_shape(architecture.input_shape if input_shape is None else tuple(input_shape))
    architecture.refuse_shape(name, shape)
    if heads is None and split is not None:
        raise InvalidArgumentError(
            f"split={split!r} says where heads begin, but heads is not given; set both"
        )
    build = partial(build_network, name, num_classes, shape)
    model = with_normalisation(build(), shape, mean, std)
    remember_build(model, build)
    return model if heads is None else multi_head(model, split, heads)
