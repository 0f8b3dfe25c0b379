"""`smoothcert demo`."""

from __future__ import annotations

import os
import shutil
import sys
import time
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from smoothcert.cli import options as opt
from smoothcert.report import Summary, print_summaries
from smoothcert.report.demo import run_demo


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = Path("demo"),
    seed: Annotated[str, typer.Option("--seed", help="Seed of the noise.")] = "0",
    workers: opt.Workers = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page when it is done.")] = False,
) -> None:
    """Train an ensemble on embedded digits, certify it, write the report. Needs no download.

    Example:

      smoothcert demo --out demo --open
    """
    start = time.monotonic()
    runs = run_demo(
        out,
        seed=opt.choose_seed(seed) or 0,
        workers=workers,
        say=lambda line: print(f"[{time.monotonic() - start:5.1f} s] {line}", file=sys.stderr, flush=True),
    )
    # The ensemble on top, its members below.
    print_summaries([Summary.of_run(run) for run in reversed(runs.values())])
    page = (out / "report.html").resolve()
    command = (
        "smoothcert" if shutil.which("smoothcert") else f"{os.path.relpath(sys.executable)} -m smoothcert"
    )
    print(f"Report: {page}\nNext:   {command} predict {out / 'models' / 'ensemble'} --indices 0:5")
    if show:
        webbrowser.open(page.as_uri())
