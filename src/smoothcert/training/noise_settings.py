"""How a training's settings name its noise: by the name of the law, and the options that the law is chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.noise import NOISE_LAWS, NoiseLaw
from smoothcert.options import Option
from smoothcert.visible import brief

DEFAULT_NOISE = "gaussian"
_DEFAULTS = {"sigma": 0.25}  # a field of every training; suits the embedded digits
_MOST_VALUES = 1_000  # of one option
_LONGEST = 1_000  # characters
_LARGEST = 2.0**53  # what a float holds exactly


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
    for name in NOISE_LAWS:
        with suppress(UnknownNameError):  # of a package that is broken, which this training does not need
            if setting in noise_options(name):
                return True
    return False


def with_default_noise(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which the options that the noise takes have their defaults."""
    defaults = {
        setting: option.default if option.default is not None else _DEFAULTS.get(setting)
        for setting, option in noise_options(values.get("noise", DEFAULT_NOISE)).items()
    }
    return {**{setting: value for setting, value in defaults.items() if value is not None}, **values}


def with_checked_noise(values: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return settings in which what is no field is an option of the noise, of the right kind; refuse all else.

    An option of another law is left for the law to refuse, unless it is None, which says nothing.

    Args:
        values: the settings.
        fields: names of all other settings.
    """
    own = noise_options(values.get("noise", DEFAULT_NOISE))
    taken = [name for name in own if name in fields and name not in _DEFAULTS]
    if taken:
        raise InvalidArgumentError(
            f"noise {values['noise']!r} has an option {taken[0]!r}, which is the name of a training setting; rename it"
        )
    checked = {}
    for name, value in values.items():
        if name in fields:
            checked[name] = value
        elif name in own:
            checked[name] = None if value is None else _of_its_kind(name, value, own[name])
        elif not is_noise_option(name):
            raise InvalidArgumentError(
                f"unknown training setting {brief(name)}; known: {', '.join(dict.fromkeys([*fields, *own]))}"
            )
        elif value is not None:
            checked[name] = value
    return checked


def without_other_noise(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those options that the noise and the noise of the changes do not share."""
    old, new = noise_options(settings["noise"]), noise_options(changes.get("noise", settings["noise"]))
    return {name: value for name, value in settings.items() if (name in old) == (name in new)}


def noise_of(name: str, given: Mapping[str, Any]) -> NoiseLaw:
    """Build the law that settings name.

    Args:
        name: of the law.
        given: values by the name of the training's setting; None counts as not given.
    """
    names = {setting: option.name for setting, option in noise_options(name).items()}
    return NOISE_LAWS[name].from_options({names.get(key, key): value for key, value in given.items()})


def _of_its_kind(setting: str, value: Any, option: Option) -> Any:
    """Return a setting's value as the option's kind; refuse one that a file gave as something else."""
    if not option.many:
        return _one_of_its_kind(setting, value, option)
    many = value if isinstance(value, list | tuple) else (value,)
    if not 1 <= len(many) <= _MOST_VALUES:
        raise InvalidArgumentError(
            f"training setting {setting!r} is wrong: it must hold 1 to {_MOST_VALUES:,} values, got {len(many):,}"
        )
    return tuple(_one_of_its_kind(setting, one, option) for one in many)


def _one_of_its_kind(setting: str, value: Any, option: Option) -> Any:
    kind, number = option.kind, isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number and abs(value) < _LARGEST:
        return float(value)
    if (
        kind is int and number and abs(value) < _LARGEST and value == int(value)
    ):  # a row of a recipe is a float
        return int(value)
    if kind not in (int, float) and isinstance(value, kind) and len(str(value)) <= _LONGEST:
        return value
    raise InvalidArgumentError(
        f"training setting {setting!r} is wrong: it must be of kind {kind.__name__} ({option.text.rstrip('.')}), got "
        f"{brief(value)}"
    )
