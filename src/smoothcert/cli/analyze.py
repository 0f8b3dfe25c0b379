"""`smoothcert analyze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smoothcert.report import Summary, print_summaries, time_reduction
from smoothcert.store import Run


def analyze(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Run folders and TSV logs of the field.")
    ],
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Run of CERTIFY to compare time with; adds time_reduction to --json."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
) -> None:
    """Print certified accuracy at radii, ACR and cost of runs or published logs.

    Example:

      smoothcert analyze runs/ensemble published.tsv --json
    """
    summaries = [Summary.of_path(path) for path in paths]
    if as_json:
        rows = [summary.to_json() for summary in summaries]
        if against is not None:
            reference = Run.open(against)
            for path, row in zip(paths, rows, strict=True):
                row["time_reduction"] = time_reduction(Run.open(path), reference) if path.is_dir() else None
        print(json.dumps(rows, indent=2))
        return
    print_summaries(summaries)
