"""How a training's settings name its noise: by the name of the law, and the options that the law is chosen by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NOISE_LAWS, NoiseLaw
from smoothcert.options import Option
from smoothcert.visible import brief

DEFAULT_NOISE = "gaussian"
_DEFAULTS = {"sigma": 0.25}  # suits the embedded digits


def noise_options(name: str) -> dict[str, Option]:
    """Return the options of a law by the name of the training's setting; empty for an unknown law."""
    if name not in NOISE_LAWS:
        return {}
    return {option.name.replace("-", "_"): option for option in NOISE_LAWS[name].options()}


def main_option(name: str) -> str:
    """Return the setting that a table of trainings has one row for: the first that the law is chosen by."""
    NOISE_LAWS[name]  # raises the error that lists the known names
    for setting in noise_options(name):
        return setting
    raise InvalidArgumentError(f"noise {name!r} has no option that rows of a recipe could differ in")


def is_noise_option(setting: str) -> bool:
    """Tell whether some law is chosen by a setting of that name."""
    return any(setting in noise_options(name) for name in NOISE_LAWS)


def with_default_noise(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which the options that the noise takes have their defaults."""
    defaults = {
        setting: option.default if option.default is not None else _DEFAULTS.get(setting)
        for setting, option in noise_options(values.get("noise", DEFAULT_NOISE)).items()
    }
    return {**{setting: value for setting, value in defaults.items() if value is not None}, **values}


def without_other_noise(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those options of their noise that the noise of the changes does not take."""
    old, new = noise_options(settings["noise"]), noise_options(changes.get("noise", settings["noise"]))
    return {name: value for name, value in settings.items() if name in new or name not in old}


def noise_of(name: str, given: Mapping[str, Any]) -> NoiseLaw:
    """Build the law that settings name.

    Args:
        name: of the law.
        given: values by the name of the training's setting; None counts as not given.
    """
    takes = noise_options(name)
    said = {setting: value for setting, value in given.items() if value is not None}
    return NOISE_LAWS[name].from_options(
        {
            takes[setting].name if setting in takes else setting: _of_its_kind(
                setting, value, takes.get(setting)
            )
            for setting, value in said.items()
        }
    )


def _of_its_kind(setting: str, value: Any, option: Option | None) -> Any:
    """Return a setting's value as the option's kind; refuse one that a file gave as something else."""
    if option is None:  # refused by the law
        return value
    if option.many:
        many = value if isinstance(value, list | tuple) else (value,)
        return tuple(_one_of_its_kind(setting, one, option) for one in many)
    return _one_of_its_kind(setting, value, option)


def _one_of_its_kind(setting: str, value: Any, option: Option) -> Any:
    kind = option.kind
    if type(value) is kind:
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():  # a row of a recipe
        return int(value)
    raise InvalidArgumentError(
        f"training setting {setting!r} must be of kind {kind.__name__} ({option.text.rstrip('.')}), got {brief(value)}"
    )
