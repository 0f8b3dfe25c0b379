"""Networks that a recipe names by a factory of the user's own: made only if the user says so, now."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import allowed, check_factories, run_factory
from smoothcert.training.config import TrainConfig
from smoothcert.training.own.module import OwnModule

_log = logging.getLogger("smoothcert")


def permitted_module(
    config: TrainConfig, train_set: Dataset, factories: Sequence[str]
) -> tuple[TrainConfig, OwnModule | None]:
    """Return the module that a configuration's factory makes, with its code on record; None for a network by name.

    Says in one line what runs. Refuses to run what is not named by the user too: a recipe may be somebody else's.

    Args:
        config: of a training by name.
        train_set: its images.
        factories: what the user lets run.
    """
    names = check_factories(factories)
    if config.factory is None:
        if names:
            raise InvalidArgumentError(
                f"factories are given ({', '.join(map(str, names))}), but model {config.model!r} is none; leave them "
                "out"
            )
        return config, None
    name = allowed(config.model, names)
    if name is None:
        raise InvalidArgumentError(
            f"this training would run code: its model is {config.model}; say that it may: "
            f"factories=[{config.model!r}] (--factory {config.model} on the command line)"
        )
    _log.warning("running code of your own: %s", name)
    mean, std = config.normalisation()
    make = partial(run_factory, name, config.model_args or {})
    module = OwnModule(make, train_set, mean or None, std or None)
    return config.changed(model_code=module.code), module
