"""`smoothcert sweep`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from smoothcert.atomic import write_atomically
from smoothcert.bounds import check_level
from smoothcert.certificates import FixedSample
from smoothcert.cli import options as opt
from smoothcert.cli.paths import folder_option
from smoothcert.cli.train import chosen_config
from smoothcert.data import load_dataset, select_indices
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import say
from smoothcert.sampling import check_workers
from smoothcert.training import TrainConfig
from smoothcert.visible import brief


def sweep(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="Name of a recipe (see recipes), or a YAML file.")
    ],
    over: Annotated[
        str,
        typer.Option(
            "--over", help="What differs: split, heads, or any setting, such as weights or threshold."
        ),
    ],
    values: Annotated[str, typer.Option("--values", help="Its values, separated by commas: 17%,34%,100%.")],
    out: Annotated[Path, folder_option("--out", text="Folder for models/, runs/ and sweep.json.")],
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
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value for all: NAME=VALUE; may be repeated.")
    ] = None,
    seed: Annotated[str, typer.Option("--seed", help="Of weights, order and noise of every training.")] = "0",
    every: Annotated[int | None, typer.Option("--every", help="Certify every K-th test image.")] = None,
    first: Annotated[
        int | None, typer.Option("--first", help="Certify the first N test images; 100 by default.")
    ] = None,
    indices: Annotated[str | None, typer.Option("--indices", help="Certify test images A:B.")] = None,
    n0: Annotated[int, typer.Option("--n0", help="Votes that choose the class.")] = 100,
    n: Annotated[int, typer.Option("--n", help="Votes that bound it.")] = 1_000,
    alpha: opt.Alpha = 0.001,
    workers: opt.Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
) -> None:
    """Train a recipe once per value of a setting, certify the same images with each, and print one table.

    Radius and accuracy stand beside parameters, operations, training time and memory, and certification time. A sweep
    that was stopped continues when the same command is given again; a new value costs one more training.

    Example:

      smoothcert sweep digits-some-gaussian --over heads --values 2,3,5 --out sweeps/heads

      smoothcert sweep fashion-mnist-some-gaussian --model resnet8 --over split --values 17%,34%,100% --epochs 5
      --data-dir data --out sweeps/split

      smoothcert sweep digits-some-gaussian --over weights --values soft,hard,high-loss --out sweeps/weights
    """
    given = [value.strip() for value in values.split(",")]
    if len(set(given)) < len(given) or "" in given:
        raise InvalidArgumentError(
            f"--values must be different values separated by commas, got {brief(values)}"
        )
    procedure = FixedSample(n0=n0, n=n)
    check_level("alpha", alpha)
    check_workers(workers)
    configs: dict[str, TrainConfig] = {}
    for value in given:  # all of them before the first training, which may take hours
        config = chosen_config(recipe, sigma, model, epochs, [*(changes or []), f"{over}={value}"])
        config = config.changed(seed=opt.choose_seed(seed)) if config.seed is None else config
        configs[value] = config if data_dir is None else config.changed(data_dir=str(data_dir))
    about = configs[given[0]]
    images = load_dataset(about.dataset, split="test", data_dir=about.data_dir)
    first = 100 if every is None and first is None and indices is None else first
    picked = select_indices(len(images), every=every, first=first, indices=indices)

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
            say=partial(say, error=True),
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
