"""`smoothcert reproduce`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import report, sampling, workflows
from smoothcert.cli import options as opt
from smoothcert.errors import InvalidArgumentError


def reproduce(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="Name of a table, or a table file of your own; without it all are listed."
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", help="minutes, hours, or paper: the paper's full settings.")
    ] = "minutes",
    out: Annotated[
        Path | None,
        opt.folder_option("--out", text="Folder to write to; reproductions/TABLE-BUDGET by default."),
    ] = None,
    data_dir: opt.DataDir = None,
    models: Annotated[
        Path | None,
        opt.path_option(
            "--models", text="Folder of trained networks by their names in the table; others are trained."
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", help="Rows to make beside those the table has already: gaussian,consistency."),
    ] = None,
    seed: Annotated[str, typer.Option("--seed", help="Of the noise of hold-outs and certifications.")] = "0",
    workers: opt.Workers = None,
) -> None:
    """Make a paper's table again: train, certify, and print published and own figures side by side.

    The first lines say what was reproduced, what was scaled down, and which of the published orders came out. Models,
    runs, table.md, table.csv, table.json and page.html are written. A reproduction that was stopped continues when the
    same command is given again.

    Example:

      smoothcert reproduce

      smoothcert reproduce mnist-methods --budget minutes --data-dir data

      smoothcert reproduce mnist-methods --budget hours --models trained --only gaussian,consistency --data-dir data
    """
    if table is None:
        _list_tables()
        return
    sampling.check_workers(workers)  # before hours of training
    number = opt.choose_seed(seed)
    name = Path(table).stem if table.endswith(".yaml") else table
    home = Path("reproductions") / f"{name}-{budget}" if out is None else out
    if models is not None and not models.is_dir():
        raise InvalidArgumentError(
            f"--models {models} is no folder; give the one that holds the trained networks"
        )
    start = time.monotonic()
    try:
        found = workflows.reproduce(
            table,
            home,
            budget=budget,
            data_dir=data_dir,
            models=models,
            only=_names(only),
            seed=0 if number is None else number,
            workers=workers,
            say=lambda line: report.say(f"[{time.monotonic() - start:6.1f} s] {line}", error=True),
        )
    except KeyboardInterrupt:
        print("stopped; the same command continues where it was", file=sys.stderr)
        raise typer.Exit(130) from None
    report.print_reproduction(found)
    report.say(f"Page: {home / 'page.html'}")


def _names(text: str | None) -> list[str]:
    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InvalidArgumentError("--only has an empty name; give rows separated by commas")
    return names


def _list_tables() -> None:
    report.print_listing(
        workflows.list_tables(),
        title="Tables that can be made again, and about how long that takes on this machine's cores",
        as_json=False,
        columns=("name", "data set", "minutes", "hours", "paper"),
        notes=("about",),
    )
    report.say("Times are reckoned from counted operations, to a factor of two or so; none was measured.")
