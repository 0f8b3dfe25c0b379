"""`smoothcert compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import report
from smoothcert.cli import options as opt


def compare(
    first: Annotated[Path, opt.path_argument("A", "Run folder or TSV log of the field.")],
    second: Annotated[Path, opt.path_argument("B", "Another, about the same images.")],
    radii: opt.Radii = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the intervals, from 0.5 to 0.999999.")
    ] = 0.95,
    common: Annotated[
        bool,
        typer.Option("--common", help="Compare the images that both have, where these are not all of each."),
    ] = False,
    target: opt.Target = None,
    norm: opt.Norm = None,
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
) -> None:
    """Compare two runs or logs on the same images: B - A with exact intervals, and what may be concluded.

    Images are compared one by one, so that what is hard for both does not blur the difference. Runs about different
    images, data or norms are refused; radii of which one of the two cannot speak are not compared, and it is said why.

    Example:

      smoothcert compare runs/gaussian runs/smoothadv --radii 0,0.5,1

      smoothcert compare published.tsv runs/mine --common --json
    """
    a, b = opt.read_summaries([first, second], norm, target)
    grid = opt.read_radii(radii)
    comparison = report.compare_summaries(
        a, b, radii=None if grid is None else grid.tolist(), confidence=confidence, common=common
    )
    if as_json:
        print(json.dumps(report.comparison_to_json(comparison), indent=2))
    else:
        report.print_comparison(comparison)
