"""Gaussian noise: l2 radii (Cohen et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from typing_extensions import override

from smoothcert.noise.additive import Floats, OneScaleNoise, drawn_scale
from smoothcert.noise.domain import check_scale
from smoothcert.noise.laws.grid_gaussian import GridGaussian
from smoothcert.on_demand import special, torch


@dataclass(frozen=True)
class Gaussian(OneScaleNoise):
    """Independent normal noise on every coordinate: R = sigma * Phi^-1(p), in l2.

    Not protected against a classifier that reads the low bits of a float: `GridGaussian` is.

    Args:
        sigma: standard deviation sigma, in pixel units.
    """

    sigma: float
    norm: ClassVar[str] = "l2"

    def __post_init__(self) -> None:
        check_scale("sigma", self.sigma)

    @classmethod
    @override
    def from_sigma(cls, sigma: float) -> Self:
        return cls(sigma)

    @property
    @override
    def std(self) -> float:
        return self.sigma

    def float_safe_form(self) -> GridGaussian:
        """Return the law of the same sigma on the grid of 8-bit images."""
        return GridGaussian(self.sigma)

    @override
    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        out.normal_(0.0, self.sigma, generator=generator).add_(image)

    @override
    def parameters(self) -> dict[str, Any]:
        return {"sigma": float(self.sigma)}

    def _radius(self, p: Floats) -> Floats:
        return np.asarray(drawn_scale(self.sigma) * special.ndtri(p))

    def _threshold(self, radius: Floats) -> Floats:
        return np.asarray(special.ndtr(radius / drawn_scale(self.sigma)))

    def _runner_up_radius(self, p: Floats, q: Floats) -> Floats:
        # Cohen et al. 2019, Theorem 1, with both bounds.
        return np.asarray(drawn_scale(self.sigma) / 2 * (special.ndtri(p) - special.ndtri(q)))
