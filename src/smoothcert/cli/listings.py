"""`smoothcert recipes`, `datasets`, `models` and `methods`: what there is."""

from __future__ import annotations

from typing import Annotated

import typer

from smoothcert import report
from smoothcert.errors import UnknownNameError
from smoothcert.visible import brief

AsJson = Annotated[bool, typer.Option("--json", help="Everything that is known, as one JSON list.")]
Filter = Annotated[str, typer.Argument(metavar="[TEXT]", help="Only names that contain this.")]
Sources = Annotated[
    bool,
    typer.Option("--sources", help="The tables they come from, and what differs from them and why."),
]


def recipes(text: Filter = "", sources: Sources = False, as_json: AsJson = False) -> None:
    """List the recipes: trainings of the papers' tables by name.

    Example:

      smoothcert recipes

      smoothcert recipes cifar10

      smoothcert recipes --sources mnist
    """
    if sources and not as_json:
        report.print_sources(_rows("recipes", text))
        return
    columns = (
        "name",
        "sigma",
        "epochs",
        "parameters",
        "multiply-adds",
        "passes per image",
        "hyper-parameters",
    )
    _print("recipes", columns, ("networks", "about"), text, as_json)


def datasets(text: Filter = "", as_json: AsJson = False) -> None:
    """List the data sets.

    Example:

      smoothcert datasets
    """
    columns = ("name", "image", "classes", "training images", "augmentation")
    _print("datasets", columns, ("about",), text, as_json)


def models(text: Filter = "", as_json: AsJson = False) -> None:
    """List the networks, with parameters and operations of a forward pass.

    Example:

      smoothcert models resnet
    """
    columns = ("name", "input", "classes", "parameters", "multiply-adds", "stages")
    _print("models", columns, ("about",), text, as_json)


def methods(text: Filter = "", as_json: AsJson = False) -> None:
    """List the training methods, with their cost and hyper-parameters.

    A pass is one forward and backward pass of a noisy copy; a pass for an attack's gradient counts two thirds.

    Example:

      smoothcert methods
    """
    columns = ("name", "copies", "passes per image", "hyper-parameters")
    _print("methods", columns, ("their defaults", "about"), text, as_json)


def _print(what: str, columns: tuple[str, ...], notes: tuple[str, ...], text: str, as_json: bool) -> None:
    rows = _rows(what, text)
    title = f"{len(rows)} {what if len(rows) != 1 else what[:-1]}"
    report.print_listing(rows, title=title, as_json=as_json, columns=columns, notes=notes)


def _rows(what: str, text: str) -> report.Listing:
    rows = report.LISTINGS[what](text)
    if not rows:
        raise UnknownNameError(
            f"the name of no {what[:-1]} contains {brief(text)}; `smoothcert {what}` lists all"
        )
    return rows
