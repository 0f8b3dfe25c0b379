"""`smoothcert train`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from smoothcert.cli import options as opt
from smoothcert.ensembles import EnsembleCard, save_ensemble
from smoothcert.ensembles.folder import ENSEMBLE_FILE
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.models import ModelCard
from smoothcert.models.card import read_record
from smoothcert.training import EpochMetrics, TrainConfig, hyper_parameters, load_recipe
from smoothcert.training import train as run_training


def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="Name of a recipe (see recipes), or a YAML file.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write the model to.")],
    sigma: Annotated[
        float | None, typer.Option("--sigma", help="Row of the recipe; its first by default.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Network; the recipe's first by default.")
    ] = None,
    data_dir: opt.DataDir = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", help="Shorten or stretch the schedule to that many epochs.")
    ] = None,
    max_train_images: Annotated[
        int | None, typer.Option("--max-train-images", help="Train on that many images only.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change any value: NAME=VALUE, e.g. lr=0.05 or lbd=10; may be repeated."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Of weights, order and noise; drawn and recorded by default.")
    ] = None,
    devices: Annotated[int, typer.Option("--devices", help="Processes, each on a device of its own.")] = 1,
    accelerator: Annotated[str, typer.Option("--accelerator", help="auto, cpu or cuda.")] = "auto",
    members: Annotated[
        int | None,
        typer.Option(
            "--members",
            help="Train so many, seeds SEED, SEED+1, .. (from 0 by default), and their soft ensemble.",
        ),
    ] = None,
) -> None:
    """Train a model as a recipe says and write its folder.

    A training that was stopped continues where its last epoch ended when the same command is given again. The
    folder holds the last epoch's model, best/ the one that did best on the hold-out, metrics.jsonl a line per epoch.
    With --members these are the folders member-0, member-1, ..; ensemble holds their vote.

    Example:

      smoothcert train digits-consistency --out models/digits

      smoothcert train cifar10-smoothadv --sigma 0.5 --model resnet20 --epochs 10 --set lr=0.05 --set m=4
      --data-dir data --out models/short

      smoothcert train digits-gaussian --members 5 --out models/five
    """
    config = chosen_config(recipe, sigma, model, epochs, changes or [])
    extra = {
        "max_train_images": max_train_images,
        "data_dir": None if data_dir is None else str(data_dir),
        "seed": opt.choose_seed(seed),
    }
    config = config.changed(**{name: value for name, value in extra.items() if value is not None})
    where: dict[str, Any] = {
        "on_epoch": _say,
        "devices": devices,
        "accelerator": accelerator,
        "show_progress": True,
    }
    if members is None:
        _tell(run_training(config, out, **where), out)
        return
    folders = _member_folders(out, members)
    first = config.seed or 0
    for number, folder in enumerate(folders):
        print(f"member {number} of {members}", file=sys.stderr, flush=True)
        _tell(run_training(config.changed(seed=first + number), folder, **where), folder)
    save_ensemble("soft", None, folders, out / "ensemble")
    print(f"{out / 'ensemble'}: soft vote of {members} members")


def _member_folders(out: Path, members: int) -> list[Path]:
    """Return a folder per member, refusing before any training what could not become an ensemble after it."""
    if members < 2:
        raise InvalidArgumentError(
            f"--members must be at least 2, got {members}; leave it out to train one model"
        )
    found = [out / f"member-{number}" for number in range(members)]
    card = out / "ensemble" / ENSEMBLE_FILE
    if card.exists() and len(read_record(EnsembleCard, card).members) != members:
        raise CheckpointError(
            f"{out / 'ensemble'} already holds an ensemble of another size; choose another folder or remove it"
        )
    return found


def _tell(card: ModelCard, out: Path) -> None:
    """Say what was trained, in a line."""
    print(
        f"{out}: {card.architecture}, {card.method}, sigma {card.training['sigma']:g}, "
        f"{card.metrics['holdout_noisy_accuracy']:.1%} of noisy hold-out images right after epoch "
        f"{card.metrics['epoch']:.0f}, {card.metrics['seconds']:.0f} s"
    )


def chosen_config(
    recipe: str, sigma: float | None, model: str | None, epochs: int | None, changes: list[str]
) -> TrainConfig:
    """Return a recipe's row with the changes that the command line asks for."""
    table = load_recipe(recipe)
    plain: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    known = set(TrainConfig.model_fields) - {"settings", "recipe", "recipe_epochs"}
    hyper = hyper_parameters(table.config(sigma=sigma, model=model).method)
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or not (name in known or name in hyper):
            raise InvalidArgumentError(
                f"--set takes NAME=VALUE, got {change!r}; names: {', '.join([*hyper, *sorted(known)])}"
            )
        (settings if name in hyper else plain)[name] = _value(text)
    return table.config(sigma=sigma, model=model, epochs=epochs, settings=settings, **plain)


def _value(text: str) -> Any:
    """Read a value as YAML does; 1e-4 is a number too."""
    try:
        return (
            float(text)
            if "e" in text.lower() and text.lower() not in ("true", "false")
            else yaml.safe_load(text)
        )
    except ValueError:
        return text


def _say(metrics: EpochMetrics) -> None:
    """Write a line per epoch."""
    radius = "" if metrics.holdout_acr is None else f", hold-out ACR {metrics.holdout_acr:.3f}"
    print(
        f"epoch {metrics.epoch}: loss {metrics.loss:.4f}, noisy hold-out accuracy "
        f"{metrics.holdout_noisy_accuracy:.1%}{radius}, {metrics.images_per_second:,.0f} images/s",
        file=sys.stderr,
        flush=True,
    )
