"""`smoothcert certify`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import certificates, report, workflows
from smoothcert.cli import options as opt
from smoothcert.cli.members import NOISE, PROCEDURE, choose_classifier, choose_procedure
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution import TRIAL_SECONDS

GROUPS = (NOISE, PROCEDURE)
"""Options that come from members."""

_PREVIEW = "Preview"


@dataclass(frozen=True)
class Preview:
    """Whether to tell what the run would cost instead of running it."""

    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Try some images and print what the run would cost, as a range.",
            rich_help_panel=_PREVIEW,
        ),
    ] = False
    trial_seconds: Annotated[
        float,
        typer.Option(
            "--trial-seconds",
            help="Of --dry-run, about; more narrow the range.",
            min=0.5,
            max=3600.0,
            rich_help_panel=_PREVIEW,
        ),
    ] = TRIAL_SECONDS


@opt.unfolded
def certify(
    ctx: typer.Context,
    model: opt.ModelFolder,
    own: opt.OwnModel,
    source: opt.Source,
    subset: opt.Subset,
    running: opt.Running,
    preview: Preview,
    out: Annotated[
        Path | None, opt.folder_option("--out", text="Run folder to write; needed but for --dry-run.")
    ] = None,
    with_members: Annotated[
        bool,
        typer.Option(
            "--with-members",
            help="Certify an ensemble's members too, from the same passes: runs OUT/member-0, .., OUT/ensemble.",
        ),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out, or start it.")] = False,
    ray: opt.Ray = None,
) -> None:
    """Certify images of a data set, or of a file or folder of your own, into a run folder.

    Killed at any moment, the same command with --resume continues and ends with the same certificates.

    Example:

      smoothcert certify demo/models/ensemble --dataset digits --first 100 --procedure sequential
      --radii 0,0.25,0.5 --out runs/ensemble

      smoothcert certify demo/models/ensemble --first 100 --n 1000 --with-members --out runs/compared

      smoothcert certify net.onnx --sigma 0.25 --dataset cifar10 --data-dir data --mean 0.49,0.48,0.45
      --std 0.25,0.24,0.26 --out runs/net

      smoothcert certify net.py:make --factory-args depth=20 --weights net.pt --sigma 0.25 --dataset digits
      --out runs/own

      smoothcert certify models/mine --dataset my.npz --every 20 --max 500 --out runs/mine

      smoothcert certify models/mine --dataset my.npz --out runs/mine --resume --ray auto
    """
    procedure = choose_procedure(PROCEDURE.given(ctx))
    if out is None and not preview.dry_run:
        raise InvalidArgumentError(
            "--out is missing; give the folder to write the run to, such as --out runs/a"
        )
    images = source.load(model, own.weights)
    classifier = choose_classifier(model, NOISE.given(ctx), own.facts(model, images))
    picked, how = subset.pick(images), running.settings()
    if preview.dry_run:
        if ray is not None:
            raise InvalidArgumentError("--dry-run tries images on this machine; leave --ray out")
        started = time.process_time()  # in the end a run takes as long to get here
        seconds = preview.trial_seconds
        report.print_preview(
            workflows.preview_run(
                classifier, images, picked, procedure, seconds=seconds, started=started, **how
            )
        )
        return
    assert out is not None
    how |= opt.where(ray, running.workers)
    how = {**how, "procedure": procedure, "indices": picked, "resume": resume, "show_progress": True}
    try:
        if with_members:
            classifier, folders = certificates.panel_classifier(model, classifier)
            outs = {name: out / name for name in folders}
            members = workflows.certify_panel(classifier, images, outs=outs, folders=folders, **how)
            runs = {str(outs[name]): run for name, run in members.items()}
        else:
            runs = {str(out): workflows.certify(classifier, images, out=out, **how)}
    except KeyboardInterrupt:
        print("stopped; finished images are kept, the same command with --resume continues", file=sys.stderr)
        raise typer.Exit(130) from None
    report.print_summaries([report.Summary.of_run(run, name) for name, run in runs.items()])
