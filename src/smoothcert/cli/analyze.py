"""`smoothcert analyze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from smoothcert import report
from smoothcert.cli import options as opt
from smoothcert.cli.variance import Variance
from smoothcert.errors import InvalidArgumentError


@opt.unfolded
def analyze(
    paths: Annotated[
        list[Path],
        opt.path_argument("PATH...", "Run folders and TSV logs of the field; one ensemble with --variance."),
    ],
    variance: Variance,
    against: Annotated[
        Path | None,
        opt.path_option("--against", text="Run of CERTIFY to compare time with; adds TimeRF."),
    ] = None,
    radii: opt.Radii = None,
    target: opt.Target = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Print 95% intervals over images too; --json always has them.")
    ] = False,
    norm: opt.Norm = None,
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
) -> None:
    """Print certified accuracy at radii, ACR and cost of runs or published logs; or why an ensemble helps.

    Example:

      smoothcert analyze runs/ensemble published.tsv --radii 0,0.5,1 --intervals

      smoothcert analyze runs/adaptive --against runs/certify --json

      smoothcert analyze adaptive_log --target 0.5

      smoothcert analyze demo/models/ensemble --variance --dataset digits --out figures
    """
    if variance.variance:
        if len(paths) != 1 or against or norm or radii or intervals or target is not None:
            raise InvalidArgumentError(
                "--variance takes one ensemble folder, and no --against, --norm, --radii, --intervals or --target"
            )
        variance.study(paths[0], as_json=as_json)
        return
    variance.refuse()
    grid = opt.read_radii(radii)
    reference = None if against is None else report.time_reference(against)
    summaries = opt.read_summaries(paths, norm, target)
    if as_json:
        _print_json(summaries, grid, reference)
    else:
        report.print_summaries(summaries, grid, intervals=intervals, reference=reference)


def _print_json(
    summaries: list[report.Summary], grid: NDArray[np.float64] | None, reference: report.Summary | None
) -> None:
    rows = [summary.to_json(grid) for summary in summaries]
    for summary, row in zip(summaries, rows, strict=True):
        row["members"] = report.members_to_json(summary, summaries, grid)
        if reference is not None:
            row["time_reduction"] = report.time_factor(summary, reference)
    print(json.dumps(rows, indent=2))
