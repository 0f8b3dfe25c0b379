"""Recipes: the rows of the papers' tables as trainings by name, one file per data set and method."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.fields import Text
from smoothcert.folders import first_fault
from smoothcert.reading import read_text
from smoothcert.training.config import TrainConfig
from smoothcert.training.limited_yaml import MOST_YAML_BYTES, parse_yaml
from smoothcert.training.noise_settings import DEFAULT_NOISE, main_option
from smoothcert.visible import brief

_ENDING = ".yaml"
_MOST_ROWS = 32  # and networks: every row is built with every network when the recipe is read

Layer = Annotated[dict[Text, Any], Field(max_length=100)]


class Recipe(BaseModel):
    """A table of trainings that differ in sigma and network, with what they share.

    Not a training: `config` picks a row.

    Args:
        name: how it is asked for; the name of its file.
        about: one sentence for listings.
        source: the paper and the tables it covers, or that it is in none; None where a recipe of one's own is silent.
        deviation: what differs from those tables, and why; "none" where nothing does; None likewise.
        base: settings of `TrainConfig` that all rows share.
        networks: networks of the papers' rows, the first by default; each with the settings it changes.
        rows: one entry per sigma, or first option of the noise's law, each with the settings it changes; the first by
            default.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: Text
    about: Text
    source: Text | None = None
    deviation: Text | None = None
    base: Layer
    networks: dict[Text, Layer] = Field(min_length=1, max_length=_MOST_ROWS)
    rows: dict[float, Layer] = Field(min_length=1, max_length=_MOST_ROWS)

    def config(
        self,
        *,
        sigma: float | None = None,
        model: str | None = None,
        epochs: int | None = None,
        settings: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> TrainConfig:
        """Return the configuration of one row.

        Args:
            sigma: the row: standard deviation of the noise, or the first option of its law; the first row by default.
            model: any network; the recipe's first by default.
            epochs: train for that long instead; drops and warm-up move with it and the change is recorded.
            settings: hyper-parameters of the method to change.
            changes: other settings of `TrainConfig` to change.
        """
        sigma = next(iter(self.rows)) if sigma is None else sigma
        if sigma not in self.rows:
            raise InvalidArgumentError(
                f"recipe {self.name!r} has no row for {self.row_key} {sigma:g}; it has {self._sigmas}; to train with "
                f"another {self.row_key}, take one of these rows and set it (--set {self.row_key}={sigma:g})"
            )
        model = next(iter(self.networks)) if model is None else model
        merged, hyper = self._row(sigma, model)
        method = merged.get("method")
        if changes.get("method", method) != method:  # another method has other settings
            merged["method"], hyper = changes["method"], {}
        merged |= {name: changes[name] for name in ("heads", "split") if name in changes}  # it may need heads
        config = TrainConfig(**merged, settings={**hyper, **(settings or {})})
        if epochs is not None:
            config = config.scaled(epochs)
        return config.changed(**changes) if changes else config

    def first_row(self) -> TrainConfig:
        """Return the first row as it is written, for lists of shipped recipes, whose rows the tests have checked."""
        merged, hyper = self._row(next(iter(self.rows)), next(iter(self.networks)))
        return TrainConfig.model_construct(None, **merged, settings=hyper)

    def _row(self, sigma: float, model: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the settings of a row, and the method's hyper-parameters; later layers overrule earlier ones."""
        layers = [self.base, self.networks.get(model, {}), self.rows[sigma]]
        merged: dict[str, Any] = {"recipe": self.name, "model": model, self.row_key: sigma}
        hyper: dict[str, Any] = {}
        for layer in layers:
            hyper |= layer.get("settings", {})
            merged |= {name: value for name, value in layer.items() if name != "settings"}
        return merged, hyper

    @property
    def row_key(self) -> str:
        """What rows differ in: the first option of the noise's law, such as "sigma"."""
        return main_option(self.base.get("noise", DEFAULT_NOISE))

    @property
    def _sigmas(self) -> str:
        return ", ".join(f"{sigma:g}" for sigma in self.rows)


class ShippedRecipe(Recipe):
    """A recipe that comes with the package: it says where its values come from, and where it differs."""

    source: Annotated[Text, Field(min_length=1)]
    deviation: Annotated[Text, Field(min_length=1)]


def recipe_names() -> tuple[str, ...]:
    """Return the names of all recipes that come with the package, sorted."""
    return tuple(_files())


def load_recipe(name: str) -> Recipe:
    """Return a recipe by its name, or from a file of one's own; unknown names are answered with near ones.

    Args:
        name: a name from `recipe_names`, or the path of a YAML file.
    """
    if not isinstance(name, str):
        raise InvalidArgumentError(
            f"a recipe is asked for by its name or path, got {brief(name)}; give a text"
        )
    if name.endswith((".yaml", ".yml")):
        return read_recipe(Path(name))
    names = recipe_names()
    if name not in names:
        near = difflib.get_close_matches(name, names, n=5, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}? " if near else ""
        raise UnknownNameError(
            f"unknown recipe {brief(name)}; {hint}`smoothcert recipes` lists all {len(names)}"
        )
    return _parsed(_files()[name].read_text("utf-8"), name, ShippedRecipe)


def read_recipe(path: Path) -> Recipe:
    """Read a recipe from a YAML file; source and deviation may be left out."""
    try:
        text = read_text(path, InvalidArgumentError, most=MOST_YAML_BYTES)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"cannot read the recipe {path}: {error}") from error
    return _parsed(text, path.stem, Recipe)


def _parsed(text: str, name: str, kind: type[Recipe]) -> Recipe:
    """Read YAML as a recipe and build every row once, so that a wrong field shows at once.

    Rows of shipped recipes are built by the tests; all of them, for a list of recipes, take longer than the list.
    """
    content = parse_yaml(text, f"recipe {name!r}")
    if not isinstance(content, dict):
        raise InvalidArgumentError(
            f"recipe {name!r} must be a table of settings, got {type(content).__name__}"
        )
    try:
        recipe = kind.model_validate({"name": name, **content})
    except ValidationError as error:
        place, _, what = first_fault(error).partition(": ")
        if error.errors()[0]["type"] == "extra_forbidden":
            what = f"unknown field; known: {', '.join(Recipe.model_fields)}"
        raise InvalidArgumentError(f"recipe {name!r}: {place}: {what}") from error
    try:
        for layer in (recipe.base, *recipe.networks.values(), *recipe.rows.values()):
            _refuse_layer(layer, recipe.row_key)
        for sigma in recipe.rows if kind is Recipe else ():
            for model in recipe.networks:
                recipe.config(sigma=sigma, model=model)
    except (InvalidArgumentError, UnknownNameError) as error:
        raise type(error)(f"recipe {name!r}: {error}") from error
    return recipe


def _refuse_layer(layer: Mapping[str, Any], row_key: str) -> None:
    """Refuse what the choice of a row decides, which a layer would silently overrule, and settings without names."""
    for name, place in {"model": "key of networks", row_key: "key of rows", "recipe": "name"}.items():
        if name in layer:
            raise InvalidArgumentError(f"{name!r} cannot be set for a row; give it as a {place}")
    if not isinstance(layer.get("settings", {}), dict):
        raise InvalidArgumentError(
            f"settings must be a table of the method's settings, got {brief(layer['settings'])}"
        )


@cache
def _files() -> dict[str, Any]:
    """Return the shipped recipes' files by the recipe's name, sorted; they do not change while the program runs."""
    folder = (resources.files("smoothcert.training") / "recipes").iterdir()
    return {
        entry.name.removesuffix(_ENDING): entry
        for entry in sorted(folder, key=lambda entry: entry.name.removesuffix(_ENDING))
        if entry.name.endswith(_ENDING)
    }
