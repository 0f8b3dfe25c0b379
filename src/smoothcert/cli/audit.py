"""`smoothcert audit`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import workflows
from smoothcert.cli import options as opt
from smoothcert.report import say
from smoothcert.workflows import Trust

EXIT_CODES = {Trust.TRUSTED: 0, Trust.NOT_TRUSTED: 1, Trust.UNDECIDED: 3}


def audit(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    model: Annotated[
        Path | None,
        typer.Option("--model", help="Folder or file of the model; by default where the run says it was."),
    ] = None,
    factory: Annotated[
        list[str] | None,
        typer.Option(
            "--factory",
            help="Let this factory run, which the run or its model folder names: none does by itself.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="Name or path of the data set; by default where the run says it was."),
    ] = None,
    data_dir: opt.DataDir = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            "--fraction", help="Share of the votes to draw again; .01, at least 256 chunks, by default."
        ),
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Seed of the choice of votes; drawn in secret by default.")
    ] = None,
    workers: opt.Workers = None,
    ray: opt.Ray = None,
    batch_size: opt.BatchSize = None,
    as_json: Annotated[bool, typer.Option("--json", help="All findings as JSON.")] = False,
) -> None:
    """Say in one line whether a run can be trusted.

    Every radius is proven again from the stored votes, digests of model and data are compared, and a share of the
    votes is drawn again from their keys and compared one by one. Exit code 0: can be trusted; 1: cannot, or not yet
    (the run is unfinished); 3: nothing is wrong, but no vote could be drawn again (the model or the data are missing).

    A run on arrays in memory or with a model of your own is audited in Python: sc.audit(run, model=.., dataset=..).

    Example:

      smoothcert audit demo/runs/ensemble --fraction 0.1

      smoothcert audit runs/own --factory net.py:make

      smoothcert audit runs/large --fraction 0.5 --ray auto
    """
    report = workflows.audit(
        run,
        model=model,
        dataset=dataset,
        data_dir=data_dir,
        fraction=fraction,
        seed=opt.choose_seed(seed),
        batch_size=batch_size,
        show_progress=True,
        factories=factory or (),
        **opt.where(ray, workers),
    )
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        say(report.line)
        for line in report.lines():
            say(line)
    raise typer.Exit(EXIT_CODES[report.trust])
