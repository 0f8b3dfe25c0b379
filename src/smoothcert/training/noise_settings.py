"""How a training's settings name its noise: by sigma, or by keep and levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smoothcert.noise import NOISE_LAWS, PARAMETERS, NoiseLaw, choose_noise, parameters_of

_DEFAULTS = {"sigma": 0.25, "levels": 2}


def with_default_noise(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which the parameters that the noise takes, and no others, have their defaults."""
    name = values.get("noise", "gaussian")
    if name not in NOISE_LAWS:
        return dict(values)  # refused by name later
    defaults = {key: _DEFAULTS.get(key) for key in parameters_of(name)}
    return {**defaults, **values}


def without_other_noise(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the parameters of a noise that the changes replace by one of another kind."""
    new = changes.get("noise", settings["noise"])
    if new not in NOISE_LAWS or parameters_of(new) == parameters_of(settings["noise"]):
        return dict(settings)
    return {key: value for key, value in settings.items() if key not in PARAMETERS}


def noise_of(settings: Mapping[str, Any]) -> NoiseLaw:
    """Build the law that settings name."""
    return choose_noise(settings["noise"], **{key: settings[key] for key in PARAMETERS})
