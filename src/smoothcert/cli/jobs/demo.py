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

from smoothcert import report, sampling, workflows
from smoothcert.cli import options as opt


def demo(
    out: Annotated[Path, opt.folder_option("--out", text="Folder to write to.")] = Path("demo"),
    seed: Annotated[str, typer.Option("--seed", help="Seed of the noise.")] = "0",
    workers: opt.Workers = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page when it is done.")] = False,
) -> None:
    """Train an ensemble on embedded digits, certify it, write the report. Needs no download.

    Example:

      smoothcert demo --out demo --open
    """
    sampling.check_workers(workers)  # before minutes of training
    start = time.monotonic()
    runs = workflows.run_demo(
        out,
        seed=opt.choose_seed(seed) or 0,
        workers=workers,
        say=lambda line: report.say(f"[{time.monotonic() - start:5.1f} s] {line}", error=True),
    )
    # The ensemble on top, its members below.
    report.print_summaries([report.Summary.of_run(run) for run in reversed(runs.values())])
    page = (out / "report.html").resolve()
    command = (
        "smoothcert" if shutil.which("smoothcert") else f"{os.path.relpath(sys.executable)} -m smoothcert"
    )
    report.say(f"Report: {page}")
    report.say(f"Next:   {command} predict {out / 'models' / 'ensemble'} --indices 0:5")
    report.say(f"Serve:  {command} serve {out / 'models' / 'ensemble'} --store {out / 'served'}")
    if show:
        webbrowser.open(page.as_uri())
