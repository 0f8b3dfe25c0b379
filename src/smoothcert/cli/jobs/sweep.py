"""`smoothcert sweep`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import data, report, sampling, training
from smoothcert.atomic import write_atomically
from smoothcert.bounds import check_level
from smoothcert.cli import options as opt
from smoothcert.cli.members import FEW_VOTES, ROWS, choose_procedure, chosen_row
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

GROUPS = (ROWS, FEW_VOTES)
"""Options that come from members."""

_IMAGES = 100  # test images to certify where none are chosen


@opt.unfolded
def sweep(
    ctx: typer.Context,
    recipe: opt.RecipeName,
    over: Annotated[
        str,
        typer.Option(
            "--over", help="What differs: split, heads, or any setting, such as weights or threshold."
        ),
    ],
    values: Annotated[str, typer.Option("--values", help="Its values, separated by commas: 17%,34%,100%.")],
    out: Annotated[Path, opt.folder_option("--out", text="Folder for models/, runs/ and sweep.json.")],
    changes: opt.Changes,
    subset: opt.Subset,
    data_dir: opt.DataDir = None,
    seed: Annotated[str, typer.Option("--seed", help="Of weights, order and noise of every training.")] = "0",
    alpha: opt.Alpha = 0.001,
    workers: opt.Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
) -> None:
    """Train a recipe once per value of a setting, certify the same images with each, and print one table.

    Radius and accuracy stand beside parameters, operations, training time and memory, and certification time. A sweep
    that was stopped continues when the same command is given again; a new value costs one more training. The first 100
    test images are certified unless others are chosen.

    Example:

      smoothcert sweep digits-some-gaussian --over heads --values 2,3,5 --out sweeps/heads

      smoothcert sweep fashion-mnist-some-gaussian --model resnet8 --over split --values 17%,34%,100% --epochs 5
      --data-dir data --out sweeps/split

      smoothcert sweep digits-some-gaussian --over weights --values soft,hard,high-loss --out sweeps/weights
    """
    procedure = choose_procedure(FEW_VOTES.given(ctx))
    check_level("alpha", alpha)
    sampling.check_workers(workers)
    configs = _configs(recipe, chosen_row(recipe, ROWS.given(ctx)), changes, over, values)
    configs = {value: _placed(config, opt.choose_seed(seed), data_dir) for value, config in configs.items()}
    about = next(iter(configs.values()))
    images = data.load_dataset(about.dataset, split="test", data_dir=about.data_dir)
    picked = (subset if subset.is_chosen else opt.Subset(first=_IMAGES)).pick(images)

    from smoothcert.report import print_sweep
    from smoothcert.workflows import run_sweep

    try:
        rows = run_sweep(
            configs,
            out,
            over=over,
            procedure=procedure,
            images=images,
            indices=picked,
            alpha=alpha,
            workers=workers,
            say=partial(report.say, error=True),
        )
    except KeyboardInterrupt:
        print("stopped; the same command continues where it was", file=sys.stderr)
        raise typer.Exit(130) from None
    content = json.dumps([row.to_json() for row in rows], indent=2)
    write_atomically(out / "sweep.json", content + "\n")
    if as_json:
        print(content)
        return
    print_sweep(over, rows)


def _configs(
    recipe: str, row: float | None, changes: opt.Changes, over: str, text: str
) -> dict[str, training.TrainConfig]:
    """Return all trainings before the first of them, which may take hours, by the value that they differ in."""
    values = [value.strip() for value in text.split(",")]
    if len(set(values)) < len(values) or "" in values:
        raise InvalidArgumentError(
            f"--values must be different values separated by commas, got {brief(text)}"
        )
    return {value: changes.config(recipe, row, [f"{over}={value}"]) for value in values}


def _placed(config: training.TrainConfig, seed: int | None, data_dir: Path | None) -> training.TrainConfig:
    """Return a training with the seed, unless it has one, and the place of its data."""
    config = config.changed(seed=seed) if config.seed is None else config
    return config if data_dir is None else config.changed(data_dir=str(data_dir))
