"""Size and price of a denoiser by name."""

from __future__ import annotations

from collections.abc import Sequence

from smoothcert.networks.denoiser_size import DENOISERS
from smoothcert.networks.descriptions import ModelDescription


def describe_denoiser(name: str, input_shape: Sequence[int]) -> ModelDescription:
    """Describe a denoiser of `DENOISERS` for images of some shape; the classifier behind it comes on top.

    Args:
        name: in `DENOISERS`.
        input_shape: (channels, height, width).
    """
    size, shape = DENOISERS[name], tuple(input_shape)
    return ModelDescription(
        name=name,
        summary=size.summary,
        input_shape=shape,
        least_side=1,
        num_classes=0,
        parameters=size.parameters(shape[0]),
        multiply_adds=size.multiply_adds(shape),
        stages=(),
    )
