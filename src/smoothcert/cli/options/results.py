"""Runs and logs to be read: options that the commands share which print figures of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from smoothcert import certificates, report
from smoothcert.cli.options.running import read_numbers
from smoothcert.errors import InvalidArgumentError

Radii = Annotated[
    str | None,
    typer.Option("--radii", help="Radii to read certified accuracy at, such as 0,0.5,1; a grid by default."),
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target",
        help="The radius that an adaptive log is about, where its column `radius proved` only says 1 or -1.",
    ),
]
Norm = Annotated[
    str | None,
    typer.Option(
        "--norm",
        help="Radii in l1, l2 or linf instead of the noise's own norm. linf is l2 / sqrt(coordinates): true, but weak.",
    ),
]


def read_radii(text: str | None) -> NDArray[np.float64] | None:
    """Read the radii to look at; refuse what is none."""
    return None if text is None else report.given_grid("--radii", read_numbers("--radii", text))


def read_summaries(paths: Sequence[Path], norm: str | None, target: float | None) -> list[report.Summary]:
    """Read runs and logs, and say which columns of logs were not read.

    Args:
        paths: run folders and TSV logs.
        norm: to give radii in; each noise's own by default.
        target: the radius of adaptive logs; refused where there is no such log.
    """
    if target is not None:
        certificates.check_radius("--target", target)
    summaries = [report.Summary.of_path(path, norm, target) for path in paths]
    if target is not None and not any(
        one.told is not None and one.told.asked == (target,) for one in summaries
    ):
        raise InvalidArgumentError(
            "--target is for logs that say `radius proved`, and there is none; leave it out"
        )
    for summary in summaries:
        if summary.ignored:
            report.say(f"{summary.name}: columns ignored: {', '.join(summary.ignored)}", error=True)
    return summaries
