"""What additive laws share: radii that are smooth functions of a probability, and mostly one number to be told by."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import override

from smoothcert.noise.domain import checked_probability, checked_radius, plain
from smoothcert.noise.law import NoiseLaw
from smoothcert.options import Option, arguments_from

Floats = NDArray[np.float64]

# Relative shave applied to every radius, hundreds of units in the last place: more than any rounding error of
# the special functions in the laws, less than any digit that is printed.
_SHAVE = 1e-13

_SIGMA = Option(
    name="sigma",
    field="sigma",
    kind=float,
    many=False,
    default=None,
    required=True,
    text="standard deviation of the noise per coordinate, in pixel units.",
)


class AdditiveNoise(NoiseLaw):
    """Noise that is added to the image, with the rounding of its radii in the safe direction.

    Not a law of its own. Subclasses give the formulas; `charge` is what their sampling may cost in probability.
    """

    @abstractmethod
    def _radius(self, p: Floats) -> Floats:
        """Radius for probabilities of at least 1/2, unrounded."""

    @abstractmethod
    def _threshold(self, radius: Floats) -> Floats:
        """Probability needed for positive radii, unrounded."""

    @abstractmethod
    def _runner_up_radius(self, p: Floats, q: Floats) -> Floats:
        """Radius for probabilities q < p, p + q <= 1, unrounded."""

    @property
    def charge(self) -> float:
        """How far a probability under the noise as drawn may lie from one under the law; 0 for most."""
        return 0.0

    @override
    def radius(self, p_lower: ArrayLike) -> Any:
        p = checked_probability("p_lower", p_lower) - self.charge
        with np.errstate(divide="ignore"):
            radius = self._radius(np.maximum(p, 0.5)) * (1 - _SHAVE)
        return plain(np.where(p > 0.5, np.maximum(radius, 0.0), 0.0))

    @override
    def threshold(self, radius: ArrayLike) -> Any:
        r = checked_radius(radius)
        needed = np.clip(self._threshold(r * (1 + _SHAVE)) + self.charge, 0.5, 1.0)
        return plain(np.where(r > 0, np.minimum(np.nextafter(needed, 2.0), 1.0), 0.5))

    @override
    def runner_up_radius(self, p_lower: ArrayLike, q_upper: ArrayLike) -> Any:
        p = checked_probability("p_lower", p_lower) - self.charge
        q = checked_probability("q_upper", q_upper) + self.charge
        lead = p > q
        q = np.minimum(q, 1 - p)  # no other class has more than what the class leaves
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = self._runner_up_radius(np.where(lead, p, 0.5), np.where(lead, q, 0.5)) * (1 - _SHAVE)
        # A difference of two nearly equal numbers: its rounding error is not relative to itself.
        return plain(np.where(lead, np.maximum(radius - _SHAVE * self.std, 0.0), 0.0))


class OneScaleNoise(AdditiveNoise):
    """Additive noise that a person chooses by `sigma` alone, whatever its own parameter is.

    Not for a law with a further parameter that a person chooses: that is an `AdditiveNoise`.
    """

    @classmethod
    @abstractmethod
    def from_sigma(cls, sigma: float) -> Self:
        """Build the law whose standard deviation per coordinate is `sigma`, in pixel units."""

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return `sigma`."""
        return (_SIGMA,)

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Self:
        """Build the law from its sigma.

        Args:
            given: values by the name of the option; None counts as not given.
        """
        return cls.from_sigma(**arguments_from("noise", cls.law_name, cls.options(), given))

    def option_values(self) -> dict[str, Any]:
        """Return its sigma."""
        return {"sigma": self.std}


def drawn_scale(value: float) -> float:
    """Return the scale to compute radii with: noise is drawn in float32, which may round its scale down."""
    return min(float(value), float(np.float32(value)))
