"""Uniform noise: l1 radii (Yang et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from typing_extensions import override

from smoothcert.noise.additive import Floats, OneScaleNoise, drawn_scale
from smoothcert.noise.domain import check_scale
from smoothcert.on_demand import torch


@dataclass(frozen=True)
class Uniform(OneScaleNoise):
    """Independent uniform noise on [-L, L] on every coordinate: R = 2L(p - 1/2), in l1.

    Not able to certify more than L, whatever the probability.

    Args:
        half_width: L, in pixel units; the standard deviation per coordinate is L / sqrt(3).
    """

    half_width: float
    norm: ClassVar[str] = "l1"

    def __post_init__(self) -> None:
        check_scale("half_width", self.half_width)

    @classmethod
    @override
    def from_sigma(cls, sigma: float) -> Self:
        check_scale("sigma", sigma)
        return cls(sigma * math.sqrt(3))

    @property
    @override
    def std(self) -> float:
        return self.half_width / math.sqrt(3)

    @override
    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        out.uniform_(-self.half_width, self.half_width, generator=generator).add_(image)

    @override
    def parameters(self) -> dict[str, Any]:
        return {"half_width": float(self.half_width)}

    def _radius(self, p: Floats) -> Floats:
        return np.asarray(2 * drawn_scale(self.half_width) * (p - 0.5))

    def _threshold(self, radius: Floats) -> Floats:
        return np.asarray(0.5 + radius / (2 * drawn_scale(self.half_width)))

    def _runner_up_radius(self, p: Floats, q: Floats) -> Floats:
        # Moving the cube by d changes no probability by more than ||d||_1 / 2L (its total variation), so the
        # lead p - q shrinks by at most ||d||_1 / L.
        return np.asarray(drawn_scale(self.half_width) * (p - q))
