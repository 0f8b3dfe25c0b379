"""Rules between the settings of a training: what a method, a schedule or a network asks of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smoothcert import networks
from smoothcert.data import DATASETS, find_source
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import DENOISERS, MODELS, is_border
from smoothcert.training.objective import OBJECTIVES, Objective
from smoothcert.visible import brief

if TYPE_CHECKING:
    from smoothcert.training.config import TrainConfig

_OWNERS = {"members": "members", "classifier": "denoiser", "depth": "denoiser", "width": "denoiser"}
_CALLED = {"members": "the members of an ensemble", "denoiser": "a denoiser"}


def with_default_model(values: dict[str, Any]) -> dict[str, Any]:
    """Fill in the network of a method that has one of its own, where none is given."""
    method = values.get("method")
    if "model" in values or method not in OBJECTIVES:
        return values
    default = OBJECTIVES[str(method)].default_model
    return values if default is None else {**values, "model": default}


def with_data_place(values: dict[str, Any]) -> dict[str, Any]:
    """Put the path of a data set of the user's own where paths stand, so that moving it changes no setting."""
    given = values.get("dataset")
    # What is no text is refused with its field; images that were handed in lie nowhere.
    if not isinstance(given, str) or given in DATASETS or values.get("own") is not None:
        return values
    name, place = find_source(given, values.get("data_dir"))
    return {**values, "dataset": name, "data_dir": None if place is None else str(place)}


def refuse_inconsistent(config: TrainConfig) -> None:
    """Refuse settings that are fine one by one and do not go together."""
    _check_schedule(config)
    if config.holdout == "none" and config.certify_every:
        raise InvalidArgumentError(
            f"certify_every={config.certify_every} certifies hold-out images, but holdout is none; set a hold-out"
        )
    if config.nesterov and config.momentum == 0:
        raise InvalidArgumentError("nesterov needs momentum above 0, got momentum=0")
    _refuse_mixture(config)
    _refuse_start(config)
    if config.heads is None and config.split is not None:
        raise InvalidArgumentError(
            f"split={config.split!r} says where heads begin, but heads is not given; set both"
        )
    _refuse_code(config)
    if config.heads is not None and not is_border(config.model, config.split):
        networks.refuse_split(config.model, config.split)  # builds the network, to see
    _check_method(config)


def methods_that(suit: Callable[[type[Objective]], bool]) -> str:
    """Return the names of the methods that suit, for messages that tell what to choose."""
    return ", ".join(name for name in OBJECTIVES if suit(OBJECTIVES[name]))


def _refuse_code(config: TrainConfig) -> None:
    """Refuse what goes with networks of this package beside a factory, and the other way round."""
    if config.factory is None and (config.model_args is not None or config.model_code is not None):
        raise InvalidArgumentError(
            f"model_args are for a factory such as net.py:make, and model {config.model!r} is none; leave them out"
        )
    if config.heads is not None and (config.factory is not None or config.own is not None):
        raise InvalidArgumentError(
            f"heads={config.heads} are for networks of this package, and {config.model!r} is none; leave them out"
        )


def _refuse_start(config: TrainConfig) -> None:
    """Refuse a start, or rounding, where it has no meaning."""
    if config.start is not None and (
        OBJECTIVES[config.method].trains != "network" or config.factory is not None or config.own is not None
    ):
        raise InvalidArgumentError(
            f"start={config.start!r} gives the first weights of a network of this package, which method "
            f"{config.method!r} with model {config.model!r} does not train; leave it out"
        )
    if config.rounding is not None and config.precision != "32-true":
        raise InvalidArgumentError(
            f"rounding={config.rounding!r} rounds float32 numbers, but precision is {config.precision!r}; give one"
        )


def _check_schedule(config: TrainConfig) -> None:
    if (config.schedule == "step") != bool(config.milestones):
        raise InvalidArgumentError(
            f"schedule {config.schedule!r} with milestones {list(config.milestones)}: the step schedule needs "
            "milestones (epochs of its drops), the others take none"
        )
    if any(not 0 < milestone < config.epochs for milestone in config.milestones):
        raise InvalidArgumentError(
            f"milestones must lie between 0 and epochs={config.epochs}, got {brief(list(config.milestones))}"
        )


def _check_method(config: TrainConfig) -> None:
    """Build the law and the method, which check their own settings, and refuse a law or heads that do not suit it."""
    noise, objective = config.noise_law(), config.objective()
    heads = config.heads or 1
    if objective.moves_images and not noise.is_additive:
        suitable = methods_that(
            lambda one: one.trains == objective.trains and not one.moves_images and one.least_heads <= heads
        )
        raise InvalidArgumentError(
            f"method {config.method!r} moves images under noise that stays, but noise {config.noise!r} depends on the "
            f"image; train with one of {suitable}"
        )
    if heads < objective.least_heads:
        raise InvalidArgumentError(
            f"method {config.method!r} needs {objective.least_heads} heads or more, got heads={config.heads}; set "
            'heads=5, the papers\' number (and split="100%" for whole networks)'
        )


def _refuse_mixture(config: TrainConfig) -> None:
    """Refuse settings of one kind of training in another: networks, members of an ensemble, denoisers."""
    trains = OBJECTIVES[config.method].trains
    if config.own is None and (config.model in DENOISERS) != (trains == "denoiser"):
        known = DENOISERS if trains == "denoiser" else MODELS
        raise InvalidArgumentError(
            f"method {config.method!r} does not train model {config.model!r}; choose one of {', '.join(known)}"
        )
    for name, owner in _OWNERS.items():
        if getattr(config, name) is not None and trains != owner:
            raise InvalidArgumentError(
                f"{name} is for methods that train {_CALLED[owner]}, and method {config.method!r} does not; "
                "leave it out"
            )
    if config.heads is not None and trains != "network":
        raise InvalidArgumentError(
            f"heads are for methods that train a network, and method {config.method!r} does not; leave them out"
        )
    if config.members is not None and len(config.members) < 2:
        raise InvalidArgumentError(
            f"members must name at least 2 model folders to fine-tune together, got {list(config.members)}"
        )
