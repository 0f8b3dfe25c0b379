"""What every noise law offers: noisy copies of an image, and the exchange of probability for radius."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from smoothcert.errors import InvalidArgumentError
from smoothcert.registry import Registry

# Relative shave applied to every radius, hundreds of units in the last place: more than any rounding error of
# the special functions below, less than any digit that is printed.
_SHAVE = 1e-13
_SMALLEST, _LARGEST = 1e-4, 1e4  # float32 resolves 6e-8 near 1: enough below the one, and above for the other


class NoiseLaw(ABC):
    """A law of noise around an image, with the radius that a class probability under it guarantees.

    Not a random source: the generator is always an argument. `radius` and `threshold` are vectorised, round
    in the safe direction (radius down, threshold up) and are inverse to each other up to that rounding.
    """

    norm: ClassVar[str]  # the norm in which radii are measured: "l2" or "l1"
    law_name: ClassVar[str]  # the name in the registry and in manifests

    @classmethod
    @abstractmethod
    def from_sigma(cls, sigma: float) -> Self:
        """Build the law whose standard deviation per coordinate is `sigma`, in pixel units."""

    @property
    @abstractmethod
    def std(self) -> float:
        """Standard deviation per coordinate, in pixel units."""

    @abstractmethod
    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        """Write noisy copies of `image` into `out` (rows x image shape), overwriting it; never clips.

        The values depend on the number of rows, so callers that promise reproducible votes draw a fixed
        number of rows per call.
        """

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments, as plain numbers for a manifest."""

    @abstractmethod
    def _radius(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Radius for probabilities above 1/2, unrounded."""

    @abstractmethod
    def _threshold(self, radius: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability needed for positive radii, unrounded."""

    def radius(self, p_lower: ArrayLike) -> Any:
        """Return the radius guaranteed by a class probability of at least `p_lower`; 0 if that is <= 1/2.

        Args:
            p_lower: lower bound on the class probability, in [0, 1]; a number or an array.
        """
        p = np.asarray(p_lower, dtype=np.float64)
        if not ((p >= 0) & (p <= 1)).all():
            raise InvalidArgumentError(f"p_lower must lie in [0, 1], got {p_lower!r}")
        with np.errstate(divide="ignore"):
            found = self._radius(np.maximum(p, 0.5)) * (1 - _SHAVE)
        return _plain(np.where(p > 0.5, np.maximum(found, 0.0), 0.0))

    def threshold(self, radius: ArrayLike) -> Any:
        """Return the class probability that must be exceeded to certify `radius`; exactly 1/2 at radius 0.

        Args:
            radius: distance in pixel units in this law's norm, >= 0; a number or an array. A radius that no
                probability reaches gives 1.
        """
        r = np.asarray(radius, dtype=np.float64)
        if not (r >= 0).all():
            raise InvalidArgumentError(f"radius must be >= 0, got {radius!r}")
        found = np.clip(self._threshold(r * (1 + _SHAVE)), 0.5, 1.0)
        return _plain(np.where(r > 0, np.minimum(np.nextafter(found, 2.0), 1.0), 0.5))

    def describe(self) -> dict[str, Any]:
        """Return name and parameters, enough for `noise_from` to build an equal law."""
        return {"name": self.law_name, **self.parameters()}


NOISE_LAWS: Registry[type[NoiseLaw]] = Registry("noise")


def noise_from(description: dict[str, Any]) -> NoiseLaw:
    """Build a noise law from what `describe` returned."""
    return NOISE_LAWS[description["name"]](**{k: v for k, v in description.items() if k != "name"})


def drawn_scale(value: float) -> float:
    """Return the scale to compute radii with: noise is drawn in float32, which may round its scale down."""
    return min(float(value), float(np.float32(value)))


def check_scale(name: str, value: float) -> None:
    """Refuse a noise parameter that is not a positive, finite number, or too small to show in a float32 pixel."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise InvalidArgumentError(
            f"{name} must be a positive, finite number of pixel units (images span [0, 1]), got {value!r}"
        )
    if not _SMALLEST <= value <= _LARGEST:
        raise InvalidArgumentError(
            f"{name} must lie between {_SMALLEST:g} and {_LARGEST:g}, where float32 pixels can show the noise, "
            f"got {value!r}"
        )


def _plain(values: NDArray[np.float64]) -> Any:
    """Return a float for a scalar, the array otherwise."""
    return float(values) if values.ndim == 0 else values
