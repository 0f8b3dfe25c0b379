"""Additive laws that are told by one number: the standard deviation per coordinate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from smoothcert.noise.additive import AdditiveNoise
from smoothcert.options import Option, arguments_from

_SIGMA = Option(
    name="sigma",
    field="sigma",
    kind=float,
    many=False,
    default=None,
    required=True,
    text="standard deviation of the noise per coordinate, in pixel units.",
)


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
