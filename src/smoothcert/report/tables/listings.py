"""What there is: recipes, data sets, networks and methods, as tables or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from smoothcert import data, networks, training
from smoothcert.report.tables.hanging import hanging

Listing = list[dict[str, Any]]


def list_models(text: str = "") -> Listing:
    """Return every network whose name contains `text`, with its size and the price of a forward pass."""
    return [
        {
            "name": found.name,
            "input": "x".join(map(str, found.input_shape)),
            "classes": found.num_classes,
            "parameters": found.parameters,
            "multiply-adds": found.multiply_adds,
            "stages": len(found.stages),
            "about": found.summary,
        }
        for found in (networks.describe_model(name) for name in networks.MODELS if text in name)
    ]


def list_datasets(text: str = "") -> Listing:
    """Return every data set whose name contains `text`, with its shape and splits."""
    return [
        {
            "name": name,
            "image": "as it is" if source.input_shape is None else "x".join(map(str, source.input_shape)),
            "classes": source.num_classes or "any",
            "training images": source.train_size or "any",
            "splits": ", ".join(source.splits),
            "augmentation": source.augmentation,
            "about": source.summary,
        }
        for name, source in ((name, data.DATASETS[name]) for name in data.DATASETS if text in name)
    ]


def list_methods(text: str = "") -> Listing:
    """Return every training method whose name contains `text`, with its cost and hyper-parameters."""
    rows = []
    for name in (name for name in training.OBJECTIVES if text in name):
        method, settings = training.OBJECTIVES[name](), training.hyper_parameters(name)
        rows.append(
            {
                "name": name,
                "copies": method.copies,
                "passes per image": round(method.cost, 2),
                "hyper-parameters": len(settings),
                "their defaults": ", ".join(f"{one}={getattr(method, one)}" for one in settings) or "none",
                "about": method.summary,
            }
        )
    return rows


def list_recipes(text: str = "") -> Listing:
    """Return every recipe whose name contains `text`, with its rows, and what training its first row costs."""
    rows = []
    for name in (name for name in training.recipe_names() if text in name):
        recipe = training.load_recipe(name)
        config = recipe.first_row()
        model = (
            networks.describe_denoiser(config.model, data.DATASETS[config.dataset].input_shape or ())
            if config.model in networks.DENOISERS
            else networks.describe_model(config.model, config.heads, config.split)
        )
        rows.append(
            {
                "name": name,
                "dataset": config.dataset,
                "method": config.method,
                "sigma": ", ".join(f"{sigma:g}" for sigma in recipe.rows),
                "networks": ", ".join(recipe.networks),
                "heads": config.heads or 1,
                "epochs": config.epochs,
                "parameters": model.parameters,
                "multiply-adds": model.multiply_adds,
                "passes per image": round(config.objective().cost, 2),
                "hyper-parameters": len(training.hyper_parameters(config.method)),
                "about": recipe.about,
                "source": recipe.source,
                "deviation": recipe.deviation,
            }
        )
    return rows


LISTINGS: dict[str, Callable[[str], Listing]] = {
    "recipes": list_recipes,
    "datasets": list_datasets,
    "models": list_models,
    "methods": list_methods,
}


def print_listing(
    rows: Sequence[dict[str, Any]], *, title: str, as_json: bool, columns: Sequence[str], notes: Sequence[str]
) -> None:
    """Print rows as JSON with all they have, or as lines of columns with notes under each.

    Args:
        rows: what a listing returned.
        title: over the lines.
        as_json: print everything as one JSON list instead.
        columns: what a row shows in line.
        notes: what it shows in lines of its own, being long.
    """
    if as_json:
        print(json.dumps(list(rows), indent=2))
        return
    print(title)
    cells = [list(columns), *([_shown(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    numbers = [all(isinstance(row[column], int | float) for row in rows) for column in columns]
    for line, row in zip(cells, [{}, *rows], strict=True):
        aligned = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        )
        print("  ".join(aligned).rstrip())
        for note in notes if row else ():
            print(hanging(f"{note}: {row[note]}", first="    ", rest="    "))


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
