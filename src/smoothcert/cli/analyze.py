"""`smoothcert analyze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smoothcert.report import Summary, print_summaries


def analyze(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Run folders and TSV logs of the field.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
) -> None:
    """Print certified accuracy at radii, ACR and cost of runs or published logs.

    Example:

      smoothcert analyze runs/ensemble published.tsv --json
    """
    summaries = [Summary.of_path(path) for path in paths]
    if as_json:
        print(json.dumps([summary.to_json() for summary in summaries], indent=2))
        return
    print_summaries(summaries)
