"""`smoothcert merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smoothcert import report, store
from smoothcert.cli import options as opt


def merge(
    runs: Annotated[
        list[Path], opt.path_argument("RUN...", "Run folders: shards of a plan, or a run and its extensions.")
    ],
    out: Annotated[Path, opt.folder_option("--out", text="Folder of the merged run.")],
    allow_gaps: Annotated[
        bool,
        typer.Option("--allow-gaps", help="Write a run that lacks images; certify --resume continues it."),
    ] = False,
) -> None:
    """Merge runs of one plan into one run, which exports and audits as one made in one piece.

    Refuses overlaps, runs that differ in anything but their images (each field is named), what was changed since it
    was written, and gaps. The runs are left as they are.

    Example:

      smoothcert merge runs/shard-* --out runs/whole

      smoothcert merge runs/first runs/more --out runs/both
    """
    merged = store.merge_runs(runs, out, allow_gaps=allow_gaps, show_progress=True)
    report.print_summaries([report.Summary.of_run(merged, str(out))])
