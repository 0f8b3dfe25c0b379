"""From the arguments of `fit` to the configuration of its training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from smoothcert.arguments import check_kind
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NOISE_LAWS, NoiseLaw
from smoothcert.training.config import TrainConfig
from smoothcert.training.noise_settings import noise_options
from smoothcert.training.objective import OBJECTIVES, Objective, make_objective
from smoothcert.training.own.augment import NONE
from smoothcert.training.own.entry import OwnEntry
from smoothcert.training.own.images import Holdout
from smoothcert.training.own.module import OwnModule
from smoothcert.visible import brief

_RECORDED = {"own", "recipe", "recipe_epochs", "packages", "digests"}
_NAMED = {
    "dataset",
    "data_dir",
    "model",
    "model_args",
    "model_code",
    "heads",
    "split",
    "members",
    "classifier",
    "start",
}
_SIZES = {"depth", "width"}
_HANDED_IN = {"method", "settings", "noise", "sigma", "normalize", "augment", "holdout"}
OFFERED = tuple(
    name for name in TrainConfig.model_fields if name not in _RECORDED | _NAMED | _SIZES | _HANDED_IN
)
"""Settings of a training that `fit` takes as they are: all that say neither what is trained nor on what."""
_INSTEAD = {
    "members": "the members of an ensemble together; use smoothcert.fine_tune, with networks of this package",
    "denoiser": "a denoiser before a classifier; use smoothcert.train with classifier=FOLDER",
}


def own_config(
    settings: Mapping[str, Any],
    own: OwnModule,
    objective: Any,
    noise: Any,
    train_set: Dataset,
    holdout: Holdout,
    augmentation: str,
) -> TrainConfig:
    """Return the configuration of a training of the user's own; refuse by name what is wrong with it.

    Args:
        settings: further arguments, as they were given.
        own: the module.
        objective: an objective, or the name of one.
        noise: a noise law.
        train_set: images to train on.
        holdout: as it was given.
        augmentation: what the record says of it.
    """
    for name in settings:
        if name not in OFFERED:
            raise InvalidArgumentError(f"fit knows no argument {brief(name)}; settings: {', '.join(OFFERED)}")
    method, hyper = _method(objective)
    law, numbers = _law(noise)
    entry = OwnEntry(
        module=own.name,
        module_code=own.code,
        module_weights=own.first_weights,
        noise_law=noise.describe(),
        mean=own.mean,
        std=own.std,
        augmentation=augmentation,
        holdout_digest=holdout.digest if isinstance(holdout, Dataset) else None,
    )
    held = len(holdout) if isinstance(holdout, Dataset) else "none" if holdout is None else holdout
    return TrainConfig(
        own=entry,
        dataset=train_set.name,
        model=type(own.example).__name__,
        method=method,
        settings=hyper,
        noise=law,
        **numbers,
        normalize=bool(own.mean),
        augment=augmentation != NONE,
        holdout=held,
        **settings,
    ).with_packages()


def _method(objective: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of an objective and the settings that differ from its defaults; refuse one for other models."""
    made = make_objective(objective, {}) if isinstance(objective, str) else objective
    if not isinstance(made, Objective):
        raise InvalidArgumentError(
            f"objective must be a training method such as Consistency(lbd=5), or one of {', '.join(OBJECTIVES)}, got "
            f"{brief(objective, 60)}{'; call it' if isinstance(objective, type) else ''}"
        )
    name = OBJECTIVES.told_name(type(made))
    if name not in OBJECTIVES or OBJECTIVES[name] is not type(made):
        raise InvalidArgumentError(
            f"objective {type(made).__name__} is in no registry, so a folder could not name it; offer it by an entry "
            "point, as docs/architecture.md shows"
        )
    if made.trains in _INSTEAD:
        raise InvalidArgumentError(f"objective {name!r} trains {_INSTEAD[made.trains]}")
    if made.least_heads > 1:
        raise InvalidArgumentError(
            f"objective {name!r} trains networks with {made.least_heads} heads or more; use smoothcert.train with "
            "heads=5, or one of the methods for plain networks, such as 'consistency'"
        )
    given = {field.name: getattr(made, field.name) for field in fields(made)}  # type: ignore[arg-type]
    usual = make_objective(name, {})
    return name, {key: value for key, value in given.items() if value != getattr(usual, key)}


def _law(noise: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of a law, and its numbers by the names that a training's settings have for them."""
    check_kind("noise", noise, NoiseLaw, "a noise law such as Gaussian(0.25)")
    name = NOISE_LAWS.told_name(type(noise))
    if name not in NOISE_LAWS or NOISE_LAWS[name] is not type(noise):
        raise InvalidArgumentError(
            f"noise {type(noise).__name__} is in no registry, so a folder could not name it; offer it by an entry "
            "point, as docs/architecture.md shows"
        )
    values = noise.option_values()
    return name, {setting: values[option.name] for setting, option in noise_options(name).items()}
