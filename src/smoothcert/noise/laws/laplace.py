"""Laplace noise: l1 radii (Lecuyer et al. 2019, Teng et al. 2020)."""

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
class Laplace(OneScaleNoise):
    """Independent Laplace noise on every coordinate: R = -s ln(2(1 - p)), in l1.

    Args:
        scale: s, in pixel units; the standard deviation per coordinate is s sqrt(2).
    """

    scale: float
    norm: ClassVar[str] = "l1"

    def __post_init__(self) -> None:
        check_scale("scale", self.scale)

    @classmethod
    @override
    def from_sigma(cls, sigma: float) -> Self:
        check_scale("sigma", sigma)
        return cls(sigma / math.sqrt(2))

    @property
    @override
    def std(self) -> float:
        return self.scale * math.sqrt(2)

    @override
    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        # Inverse distribution function, because torch's own exponential_ may keep only 31 bits of the stream.
        # u in [-1, 1) gives sign(u) * Exp: magnitude -ln(1 - |u|); the floor keeps u = -1 finite.
        out.uniform_(-1.0, 1.0, generator=generator)
        magnitude = out.abs().neg_().add_(1.0).clamp_(min=2.0**-25).log_().mul_(-self.scale)
        out.copy_(torch.copysign(magnitude, out)).add_(image)

    @override
    def parameters(self) -> dict[str, Any]:
        return {"scale": float(self.scale)}

    def _radius(self, p: Floats) -> Floats:
        return np.asarray(-drawn_scale(self.scale) * np.log(2 * (1 - p)))

    def _threshold(self, radius: Floats) -> Floats:
        return np.asarray(1 - np.exp(-radius / drawn_scale(self.scale)) / 2)

    def _runner_up_radius(self, p: Floats, q: Floats) -> Floats:
        # With t = e^(||d||_1 / s) densities change by a factor in [1/t, t]: the class keeps more than p/t and
        # 1 - t(1 - p), another gets less than t q. Either of the first above the last is enough.
        first, second = -np.log1p(q - p), (np.log(p) - np.log(q)) / 2
        return np.asarray(drawn_scale(self.scale) * np.fmax(first, second))
