"""`smoothcert train`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import folders, training
from smoothcert.cli.members import ROWS, chosen_row
from smoothcert.cli.options import (
    Changes,
    Devices,
    RecipeName,
    Training,
    folder_option,
    path_option,
    unfolded,
)
from smoothcert.cli.told.training import tell_before, tell_epoch, tell_trained
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.report import say

GROUPS = (ROWS,)
"""Options that come from members."""

MOST_MEMBERS = 1_000


@unfolded
def train(
    ctx: typer.Context,
    recipe: RecipeName,
    out: Annotated[Path, folder_option("--out", text="Folder to write the model to.")],
    changes: Changes,
    asked: Training,
    devices: Devices,
    members: Annotated[
        int | None,
        typer.Option(
            "--members",
            help="Train so many, seeds SEED, SEED+1, .. (from 0 by default), and their soft ensemble.",
        ),
    ] = None,
    factory: Annotated[
        list[str] | None,
        typer.Option(
            "--factory",
            help="Let this factory run, which the recipe names as its network: no recipe runs code by itself.",
        ),
    ] = None,
    start: Annotated[
        list[Path] | None,
        path_option(
            "--from",
            text="Trained network to begin with; or members to fine-tune together (drt recipes): an ensemble "
            "folder, or model folders, each with --from.",
        ),
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

      smoothcert train mine.yaml --factory net.py:make --out models/mine

      smoothcert train digits-gaussian --from models/digits --epochs 2 --set lr=0.01 --set rounding=int8
      --out models/for-int8

      smoothcert train digits-drt --from models/five/ensemble --out models/diverse

      smoothcert train digits-denoiser-stability --classifier models/clean --out models/denoised
    """
    config = asked.config(recipe, chosen_row(recipe, ROWS.given(ctx)), changes)
    # Resumed, because the same command goes on after a stop.
    where = {**vars(devices), "resume": True, "on_epoch": tell_epoch, "show_progress": True}
    named = [*(factory or [])]
    if (
        changes.model is not None and folders.FactoryName.read(changes.model) is not None
    ):  # named by the user, now
        named.append(changes.model)
    try:
        if start is not None and config.objective().trains == "network":
            _train(_started(config, start, members), out, where, named)
        elif start is not None:
            _fine_tune(config, start, members, out, where)
        elif members is not None:
            _train_members(config, members, out, where, named)
        else:
            _train(config, out, where, named)
    except KeyboardInterrupt:
        print("stopped; the same command continues after the last finished epoch", file=sys.stderr)
        raise typer.Exit(130) from None


def _train(config: training.TrainConfig, out: Path, where: dict[str, Any], factories: list[str]) -> None:
    """Train one model, or say that there is nothing left to do, and tell of it."""
    tell_before(out, out / folders.CARD_FILE)
    tell_trained(training.train(config, out, **where, factories=factories), out)


def _started(config: training.TrainConfig, start: list[Path], members: int | None) -> training.TrainConfig:
    """Return the configuration that begins with a trained network."""
    if members is not None or len(start) > 1:
        raise InvalidArgumentError(
            f"method {config.method!r} trains one network from one start; give --from once and no --members"
        )
    noise, own = folders.read_card(start[0]).noise, config.noise_law().describe()
    if dict(noise) != own:
        say(f"note: {start[0]} was trained for noise {dict(noise)}, and goes on with {own}", error=True)
    return config.changed(start=str(start[0]))


def _train_members(
    config: training.TrainConfig, members: int, out: Path, where: dict[str, Any], factories: list[str]
) -> None:
    """Train members one after the other, and their soft vote."""
    places = _member_folders(out, members)
    first = config.seed or 0
    for number, folder in enumerate(places):
        say(f"member {number} ({number + 1} of {members})", error=True)
        _train(config.changed(seed=first + number), folder, where, factories)
    folders.save_ensemble(places, out / "ensemble", module=folders.modules_of(None, factories))
    say(f"{out / 'ensemble'}: soft vote of {members} members")


def _fine_tune(
    config: training.TrainConfig, start: list[Path], members: int | None, out: Path, where: dict[str, Any]
) -> None:
    """Fine-tune members together, and tell of them."""
    if members is not None:
        raise InvalidArgumentError(
            "--members trains new members and --from fine-tunes trained ones; give one"
        )
    tell_before(out, out / "ensemble" / folders.ENSEMBLE_FILE)
    card = training.fine_tune(config, start, out, **where)
    tell_trained(folders.read_card(out / "member-0"), out)
    say(f"{out / 'ensemble'}: soft vote of {len(card.members)} members")


def _member_folders(out: Path, members: int) -> list[Path]:
    """Return a folder per member, refusing before any training what could not become an ensemble after it."""
    if members < 2:
        raise InvalidArgumentError(
            f"--members must be at least 2, got {members}; leave it out to train one model"
        )
    if members > MOST_MEMBERS:
        raise InvalidArgumentError(f"--members must be at most {MOST_MEMBERS:,}, got {members}")
    places = [out / f"member-{number}" for number in range(members)]
    card = out / "ensemble" / folders.ENSEMBLE_FILE
    if card.exists() and len(folders.read_record(folders.EnsembleCard, card).members) != members:
        raise CheckpointError(
            f"{out / 'ensemble'} already holds an ensemble of another size; choose another folder or remove it"
        )
    return places
