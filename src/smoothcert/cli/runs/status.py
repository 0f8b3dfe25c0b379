"""`smoothcert status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import report, store
from smoothcert.cli.options import path_argument


def status(
    runs: Annotated[list[Path], path_argument("RUN...", "Run folders, on the machine that draws them.")],
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON, a list.")] = False,
) -> None:
    """Say how runs are getting on, from another terminal: done, votes per second, time left, failures.

    Reads the run folder alone and takes no lock. Says of a run that nobody draws any more how to continue it.

    Example:

      smoothcert status runs/ensemble

      smoothcert status runs/shard-* --json
    """
    told = [store.run_status(run) for run in runs]
    if as_json:
        print(json.dumps([report.status_to_json(one) for one in told], indent=2))
    else:
        for one in told:
            for line in report.status_lines(one):
                report.say(line)
