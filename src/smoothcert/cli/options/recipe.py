"""A recipe's row on the command line, with the changes that are asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from smoothcert import training
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

RecipeName = Annotated[
    str, typer.Argument(metavar="RECIPE", help="Name of a recipe (see recipes), or a YAML file.")
]


@dataclass(frozen=True)
class Changes:
    """What may differ from the recipe."""

    model: Annotated[str | None, typer.Option("--model", help="Network; the recipe's first by default.")] = (
        None
    )
    epochs: Annotated[
        int | None, typer.Option("--epochs", help="Shorten or stretch the schedule to that many epochs.")
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change any value: NAME=VALUE, e.g. lr=0.05 or lbd=10; may be repeated."),
    ] = None

    def config(self, recipe: str, row: float | None, more: Iterable[str] = ()) -> training.TrainConfig:
        """Return a recipe's row with these changes, and more that are written as NAME=VALUE."""
        return chosen_config(recipe, row, self.model, self.epochs, [*(self.settings or []), *more])


def chosen_config(
    recipe: str, sigma: float | None, model: str | None, epochs: int | None, changes: list[str]
) -> training.TrainConfig:
    """Return a recipe's row with the changes that the command line asks for."""
    table = training.load_recipe(recipe)
    given: dict[str, Any] = {"sigma": sigma, "model": model, "epochs": epochs}
    values = dict(_pair(change) for change in changes)
    for name in ("model", "epochs"):  # what has an option of its own may be set either way
        if name in values and given[name] is not None:
            raise InvalidArgumentError(f"--{name} and --set {name}=.. are both given; give one")
        given[name] = values.pop(name, given[name])
    # Any noise, beside the row's other settings; its parts together, because one without the others may be wrong.
    own = {
        name: values.pop(name) for name in list(values) if name == "noise" or training.is_noise_option(name)
    }
    hyper = training.hyper_parameters(
        values.get("method", table.config(sigma=sigma, model=given["model"]).method)
    )
    known = set(training.TrainConfig.model_fields) - {
        "settings",
        "own",
        "model_code",
        "recipe",
        "recipe_epochs",
        "members",
        "digests",
        "packages",
    }
    for name in values:
        if name not in known and name not in hyper:
            raise InvalidArgumentError(
                f"--set knows no {brief(name)}; names: {', '.join([*hyper, *sorted(known)])}"
            )
    settings = {name: value for name, value in values.items() if name in hyper}
    plain = {name: value for name, value in values.items() if name not in hyper}
    config = table.config(**given, settings=settings, **plain)
    return config.changed(**own) if own else config


def _pair(change: str) -> tuple[str, Any]:
    """Read NAME=VALUE, the value as YAML reads it; 1e-4 is a number too."""
    name, equals, text = change.partition("=")
    if not equals or not name or not text.strip():
        raise InvalidArgumentError(f"--set takes NAME=VALUE, got {brief(change)}; for example lr=0.05")
    for read in (int, float, partial(training.parse_yaml, where=change)):
        with contextlib.suppress(ValueError):
            return name, read(text)
    return name, text
