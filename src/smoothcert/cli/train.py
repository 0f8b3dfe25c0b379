"""`smoothcert train`."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert.cli import options as opt
from smoothcert.cli.paths import folder_option, path_option
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import (
    CARD_FILE,
    ENSEMBLE_FILE,
    EnsembleCard,
    ModelCard,
    read_card,
    read_record,
    save_ensemble,
)
from smoothcert.noise import PARAMETERS
from smoothcert.report import say
from smoothcert.training import (
    STATE_FILE,
    EpochMetrics,
    TrainConfig,
    hyper_parameters,
    load_recipe,
    parse_yaml,
    read_header,
)
from smoothcert.training import fine_tune as run_fine_tuning
from smoothcert.training import train as run_training
from smoothcert.visible import brief

MOST_MEMBERS = 1_000


def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="Name of a recipe (see recipes), or a YAML file.")
    ],
    out: Annotated[Path, folder_option("--out", text="Folder to write the model to.")],
    sigma: Annotated[
        float | None, typer.Option("--sigma", help="Row of the recipe; its first by default.")
    ] = None,
    keep: Annotated[
        float | None, typer.Option("--keep", help="Row of a recipe for l0 noise; its first by default.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Network; the recipe's first by default.")
    ] = None,
    heads: Annotated[
        int | None, typer.Option("--heads", help="Heads on one trunk, whose mean predicts; none by default.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            help='Where heads begin: a stage, a block such as stage3.9, or the share of layers in a head, "34%"; '
            "before the last residual stage by default.",
        ),
    ] = None,
    data_dir: opt.DataDir = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", help="Shorten or stretch the schedule to that many epochs.")
    ] = None,
    max_train_images: Annotated[
        int | None, typer.Option("--max-train-images", help="Train on that many images only.")
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            "--holdout",
            help="Training images to hold out and measure on, or none to train on all; the recipe's by default.",
        ),
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
    start: Annotated[
        list[Path] | None,
        path_option(
            "--from",
            text="Members to fine-tune together (drt recipes): an ensemble folder, or model folders, each with --from.",
        ),
    ] = None,
    classifier: Annotated[
        Path | None,
        path_option("--classifier", text="Classifier to train a denoiser for (denoiser recipes)."),
    ] = None,
) -> None:
    """Train a model as a recipe says and write its folder.

    A training that was stopped continues where its last epoch ended when the same command is given again. The
    folder holds the last epoch's model, best/ the one that did best on the hold-out (if there is one), metrics.jsonl a
    line per epoch.
    With --members and --from these are the folders member-0, member-1, ..; ensemble holds their vote.

    Example:

      smoothcert train digits-consistency --out models/digits

      smoothcert train cifar10-smoothadv --sigma 0.5 --model resnet20 --epochs 10 --set lr=0.05 --set m=4
      --data-dir data --out models/short

      smoothcert train digits-gaussian --members 5 --out models/five

      smoothcert train digits-gaussian --model resnet8 --heads 5 --split stage3 --out models/heads

      smoothcert train digits-drt --from models/five/ensemble --out models/diverse

      smoothcert train digits-denoiser-stability --classifier models/clean --out models/denoised
    """
    # As changes, because a method that needs heads is refused without them.
    own = {"heads": heads, "split": split, "holdout": holdout}
    asked = [f"{name}={value}" for name, value in own.items() if value is not None]
    config = chosen_config(recipe, _row(recipe, sigma, keep), model, epochs, [*(changes or []), *asked])
    extra = {
        "max_train_images": max_train_images,
        "classifier": None if classifier is None else str(classifier),
        "data_dir": None if data_dir is None else str(data_dir),
        "seed": opt.choose_seed(seed),
    }
    config = config.changed(**{name: value for name, value in extra.items() if value is not None})
    where: dict[str, Any] = {
        "resume": True,  # the same command goes on after a stop
        "on_epoch": _say,
        "devices": devices,
        "accelerator": accelerator,
        "show_progress": True,
    }
    try:
        if start is not None:
            _fine_tune(config, start, members, out, where)
            return
        if members is None:
            _train(config, out, where)
            return
        folders = _member_folders(out, members)
        first = config.seed or 0
        for number, folder in enumerate(folders):
            say(f"member {number} ({number + 1} of {members})", error=True)
            _train(config.changed(seed=first + number), folder, where)
    except KeyboardInterrupt:
        print("stopped; the same command continues after the last finished epoch", file=sys.stderr)
        raise typer.Exit(130) from None
    save_ensemble("soft", None, folders, out / "ensemble")
    say(f"{out / 'ensemble'}: soft vote of {members} members")


def _train(config: TrainConfig, out: Path, where: dict[str, Any]) -> None:
    """Train one model, or say that there is nothing left to do, and tell of it."""
    _tell_before(out, out / CARD_FILE)
    _tell(run_training(config, out, **where), out)


def _fine_tune(
    config: TrainConfig, start: list[Path], members: int | None, out: Path, where: dict[str, Any]
) -> None:
    """Fine-tune members together, and tell of them."""
    if members is not None:
        raise InvalidArgumentError(
            "--members trains new members and --from fine-tunes trained ones; give one"
        )
    _tell_before(out, out / "ensemble" / ENSEMBLE_FILE)
    card = run_fine_tuning(config, start, out, **where)
    _tell(read_card(out / "member-0"), out)
    say(f"{out / 'ensemble'}: soft vote of {len(card.members)} members")


def _tell_before(out: Path, result: Path) -> None:
    """Say that a training is done already, or where it goes on."""
    if result.exists():
        say(f"{out} is trained already", error=True)
    elif (out / STATE_FILE).exists():
        say(f"{out}: continuing after epoch {len(read_header(out).metrics)}", error=True)


def _member_folders(out: Path, members: int) -> list[Path]:
    """Return a folder per member, refusing before any training what could not become an ensemble after it."""
    if members < 2:
        raise InvalidArgumentError(
            f"--members must be at least 2, got {members}; leave it out to train one model"
        )
    if members > MOST_MEMBERS:
        raise InvalidArgumentError(f"--members must be at most {MOST_MEMBERS:,}, got {members}")
    found = [out / f"member-{number}" for number in range(members)]
    card = out / "ensemble" / ENSEMBLE_FILE
    if card.exists() and len(read_record(EnsembleCard, card).members) != members:
        raise CheckpointError(
            f"{out / 'ensemble'} already holds an ensemble of another size; choose another folder or remove it"
        )
    return found


def _tell(card: ModelCard, out: Path) -> None:
    """Say what was trained, in a line."""
    heads = "" if card.heads is None else f" with {card.heads} heads"
    noise = ", ".join(
        f"{name} {card.training[name]:g}" for name in PARAMETERS if card.training.get(name) is not None
    )
    say(
        f"{out}: {card.architecture}{heads}, method {card.method}, {card.noise['name']} noise ({noise}), "
        f"{card.metrics['train_images']:,.0f} images, {_right(card)}after epoch "
        f"{card.metrics['epoch']:.0f}, {card.metrics['seconds']:.0f} s"
    )


def _right(card: ModelCard) -> str:
    right = card.metrics.get("holdout_noisy_accuracy")
    return "" if right is None else f"{right:.1%} of noisy hold-out images right "


def _row(recipe: str, sigma: float | None, keep: float | None) -> float | None:
    """Return the row asked for by the option that suits the recipe's noise."""
    wanted, key = {"sigma": sigma, "keep": keep}, load_recipe(recipe).row_key
    for name, value in wanted.items():
        if value is not None and name != key:
            raise InvalidArgumentError(f"recipe {recipe!r} has rows by {key}, not by {name}; use --{key}")
    return wanted[key]


def chosen_config(
    recipe: str, sigma: float | None, model: str | None, epochs: int | None, changes: list[str]
) -> TrainConfig:
    """Return a recipe's row with the changes that the command line asks for."""
    table = load_recipe(recipe)
    given: dict[str, Any] = {"sigma": sigma, "model": model, "epochs": epochs}
    values = dict(_pair(change) for change in changes)
    for name in ("model", "epochs"):  # what has an option of its own may be set either way
        if name in values and given[name] is not None:
            raise InvalidArgumentError(f"--{name} and --set {name}=.. are both given; give one")
        given[name] = values.pop(name, given[name])
    # Any noise, beside the row's other settings; its parts together, because one without the others may be wrong.
    own = {name: values.pop(name) for name in ("noise", *PARAMETERS) if name in values}
    hyper = hyper_parameters(values.get("method", table.config(sigma=sigma, model=given["model"]).method))
    known = set(TrainConfig.model_fields) - {
        "settings",
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
    for read in (int, float, partial(parse_yaml, where=change)):
        with contextlib.suppress(ValueError):
            return name, read(text)
    return name, text


def _say(metrics: EpochMetrics) -> None:
    """Write a line per epoch."""
    radius = "" if metrics.holdout_acr is None else f", hold-out ACR {metrics.holdout_acr:.3f}"
    right = metrics.holdout_noisy_accuracy
    accuracy = "" if right is None else f", noisy hold-out accuracy {right:.1%}"
    say(
        f"epoch {metrics.epoch}: loss {metrics.loss:.4f}{accuracy}{radius}, "
        f"{metrics.images_per_second:,.0f} images/s",
        error=True,
    )
