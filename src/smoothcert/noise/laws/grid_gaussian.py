"""Gaussian noise rounded to the grid of 8-bit images: l2 radii that hold in floating point too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from typing_extensions import override

from smoothcert.errors import InvalidArgumentError, InvalidImageError
from smoothcert.noise.additive import Floats, OneScaleNoise
from smoothcert.noise.domain import check_scale
from smoothcert.noise.grid_table import grid_table
from smoothcert.noise.on_grid import on_grid
from smoothcert.noise.words import Words, in_blocks
from smoothcert.on_demand import special, torch
from smoothcert.visible import brief

STEPS = 255  # of the grid between 0 and 1
_NEAR = 5e-5  # of a step: what float32 makes of k/255 by any route is nearer than that
_LARGEST_SIGMA = 20.0  # a step count of more than 15 bits has no place in the table
_MOST_COORDINATES = 2**40  # more than any image has; keeps the charge a number


@dataclass(frozen=True)
class GridGaussian(OneScaleNoise):
    """Normal noise rounded to multiples of 1/255, drawn by integers: R = sigma * Phi^-1(p), in l2.

    Rounding commutes with moving along the grid, so for images on the grid the noisy image is the rounded x + z
    with normal z: the classifier sees a function of x + z, and the theorem holds for it bit by bit. The noisy
    image is clipped to [-K, K + 1], K = max(1, int(6 sigma)), as part of that function. Plain `Gaussian` has
    noise whose low bits depend on the image, which a classifier can be made to read.

    Not for images off the grid: they are refused, and the certificate is about 8-bit images in the ball. What the
    finite table costs in probability is taken off, at the image and at its neighbour.

    Args:
        sigma: standard deviation of the noise before rounding, in pixel units.
        dimension: most coordinates an image may have; `for_shape` sets it to what an image has.
    """

    sigma: float
    dimension: int = 2**18
    holds_in_floats: ClassVar[bool] = True
    norm: ClassVar[str] = "l2"

    def __post_init__(self) -> None:
        check_scale("sigma", self.sigma)
        if self.sigma > _LARGEST_SIGMA:
            raise InvalidArgumentError(
                f"sigma on the 1/255 grid is at most {_LARGEST_SIGMA:g}, got {self.sigma!r}"
            )
        whole = isinstance(self.dimension, int) and not isinstance(self.dimension, bool)
        if not whole or not 1 <= self.dimension <= _MOST_COORDINATES:
            raise InvalidArgumentError(
                "dimension must be an integer number of coordinates of at least 1 and at most 2^40, got "
                f"{brief(self.dimension)}"
            )

    @classmethod
    @override
    def from_sigma(cls, sigma: float) -> Self:
        return cls(sigma)

    @property
    @override
    def std(self) -> float:
        return self.sigma

    @property
    def reach(self) -> int:
        """K: noisy pixels are clipped to [-K, K + 1]."""
        return max(1, int(6 * self.sigma))

    @property
    def charge(self) -> float:
        """Total variation between drawn and exact noise, d T 2^-53 with T thresholds, once for each end."""
        return 2 * self.dimension * 2 * STEPS * (self.reach + 1) * 2.0**-53

    @override
    def for_shape(self, shape: Sequence[int]) -> GridGaussian:
        return GridGaussian(self.sigma, math.prod(shape))

    def check_image(self, image: torch.Tensor) -> None:
        """Refuse an image with values off the 1/255 grid or outside [0, 1], or with too many of them."""
        _levels(image)
        if image.numel() > self.dimension:
            raise InvalidImageError(
                f"the image has {image.numel()} values, but the noise is for {self.dimension}: use for_shape"
            )

    def admissible(self, moved: torch.Tensor, clean: torch.Tensor, reach: float) -> torch.Tensor:
        """Return the changed image on the grid."""
        return on_grid(moved, clean, reach)

    @override
    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        table = grid_table(float(self.sigma), STEPS * (self.reach + 1))
        level, words = _levels(image), Words(generator)
        for block in in_blocks(out):
            noisy = table.draw(words, block.numel()).view(block.shape).add_(level)
            block.copy_(noisy.clamp_(-STEPS * self.reach, STEPS * (self.reach + 1))).div_(STEPS)

    @override
    def parameters(self) -> dict[str, Any]:
        return {"sigma": float(self.sigma), "dimension": self.dimension}

    def _radius(self, p: Floats) -> Floats:
        return np.asarray(self.sigma * special.ndtri(p))

    def _threshold(self, radius: Floats) -> Floats:
        return np.asarray(special.ndtr(radius / self.sigma))

    def _runner_up_radius(self, p: Floats, q: Floats) -> Floats:
        return np.asarray(self.sigma / 2 * (special.ndtri(p) - special.ndtri(q)))


def _levels(image: torch.Tensor) -> torch.Tensor:
    """Return an image's values in steps of 1/255, as int16; refuse values off that grid."""
    scaled = image * STEPS
    level = torch.round(scaled)
    lowest, highest = torch.aminmax(level)
    # Written so that NaN fails too.
    if not (float((scaled - level).abs_().max()) <= _NEAR and float(lowest) >= 0 and float(highest) <= STEPS):
        raise InvalidImageError(
            "float-safe noise needs 8-bit images: values k/255 with k = 0 .. 255; round the image to them, or use "
            "Gaussian noise"
        )
    return level.to(torch.int16)
