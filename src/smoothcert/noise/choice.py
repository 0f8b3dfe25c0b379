"""From a law's name and the parameters a person gave to the law."""

from __future__ import annotations

from smoothcert.errors import InvalidArgumentError
from smoothcert.noise.law import NOISE_LAWS, NoiseLaw

PARAMETERS = ("sigma", "keep", "levels")
"""All that a law may be chosen by: additive laws by `sigma`, discrete replacement by `keep` and `levels`."""


def choose_noise(
    name: str, *, sigma: float | None = None, keep: float | None = None, levels: int | None = None
) -> NoiseLaw:
    """Build a law; refuse parameters that it does not take, and ask for the one it needs.

    Args:
        name: a name in `NOISE_LAWS`.
        sigma: standard deviation per coordinate in pixel units, for additive laws.
        keep: probability that a coordinate keeps its value, for discrete replacement.
        levels: number of values of a coordinate there; 2 by default.
    """
    kind = NOISE_LAWS[name]
    given = {"sigma": sigma, "keep": keep, "levels": levels}
    takes = parameters_of(name)
    for parameter, value in given.items():
        if value is not None and parameter not in takes:
            raise InvalidArgumentError(
                f"noise {name!r} takes no {parameter} (got {value!r}); it takes {' and '.join(takes)}"
            )
    main = given[kind.main_parameter]
    if main is None:
        needed = kind.main_parameter
        raise InvalidArgumentError(f"noise {name!r} needs {needed}; give it, such as {needed} 0.8")
    if sigma is not None:
        return kind.from_sigma(sigma)
    return kind(**{key: value for key, value in given.items() if value is not None})


def parameters_of(name: str) -> tuple[str, ...]:
    """Return the parameters that a law is chosen by."""
    return PARAMETERS[:1] if NOISE_LAWS[name].main_parameter == "sigma" else PARAMETERS[1:]
