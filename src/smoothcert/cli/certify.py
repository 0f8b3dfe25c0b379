"""`smoothcert certify`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert.certificates import panel_classifier
from smoothcert.cli import options as opt
from smoothcert.cli.paths import folder_option
from smoothcert.data import select_indices
from smoothcert.report import TRIAL_SECONDS, Summary, print_preview, print_summaries
from smoothcert.workflows import certify as run_certify
from smoothcert.workflows import certify_panel


def certify(
    model: opt.ModelFolder,
    out: Annotated[Path, folder_option("--out", text="Run folder to write.")],
    dataset: opt.DatasetName = None,
    data_dir: opt.DataDir = None,
    every: Annotated[int | None, typer.Option("--every", help="Every K-th test image.")] = None,
    first: Annotated[int | None, typer.Option("--first", help="The first N test images.")] = None,
    indices: Annotated[str | None, typer.Option("--indices", help="Test images A:B.")] = None,
    noise: opt.NoiseName = None,
    sigma: opt.Sigma = None,
    keep: opt.Keep = None,
    levels: opt.Levels = None,
    sound: opt.Sound = False,
    procedure: Annotated[
        str, typer.Option("--procedure", help="fixed, staged, sequential or group.")
    ] = "fixed",
    radius: Annotated[
        float | None,
        typer.Option("--radius", help="The radius to prove; without one, sequential looks for the largest."),
    ] = None,
    radii: Annotated[
        str | None, typer.Option("--radii", help="Several radii, R1,R2,.. (sequential).")
    ] = None,
    n0: Annotated[int | None, typer.Option("--n0", help="Votes that choose the class.")] = None,
    n: Annotated[
        int | None, typer.Option("--n", help="Votes that bound it (fixed, group) or the cap (sequential).")
    ] = None,
    runner_up: Annotated[
        bool,
        typer.Option(
            "--runner-up",
            help="Bound the strongest other class too (fixed): larger radii where rivals are many.",
        ),
    ] = False,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Growth not worth waiting for (sequential without a radius)."),
    ] = None,
    stages: Annotated[
        str | None, typer.Option("--stages", help="Votes of each stage, N1,N2,.. (staged).")
    ] = None,
    alpha: opt.Alpha = 0.001,
    beta: Annotated[
        float | None,
        typer.Option("--beta", help="Error probability of giving up too early; .001 by default."),
    ] = None,
    seed: opt.Seed = None,
    workers: opt.Workers = None,
    engine: opt.Engine = "auto",
    batch_size: opt.BatchSize = None,
    with_members: Annotated[
        bool,
        typer.Option(
            "--with-members",
            help="Certify an ensemble's members too, from the same passes: runs OUT/member-0, .., OUT/ensemble.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Try some images and print what the run would cost, as a range.")
    ] = False,
    trial_seconds: Annotated[
        float,
        typer.Option(
            "--trial-seconds", help="Of --dry-run, about; more narrow the range.", min=0.5, max=3600.0
        ),
    ] = TRIAL_SECONDS,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out, or start it.")] = False,
) -> None:
    """Certify test images of a data set into a run folder.

    Killed at any moment, the same command with --resume continues and ends with the same certificates.

    Example:

      smoothcert certify demo/models/ensemble --dataset digits --first 100 --procedure sequential
      --radii 0,0.25,0.5 --out runs/ensemble

      smoothcert certify demo/models/ensemble --first 100 --n 1000 --with-members --out runs/compared
    """
    chosen = opt.choose_procedure(
        procedure,
        radius=radius,
        radii=radii,
        n0=n0,
        n=n,
        stages=stages,
        beta=beta,
        tolerance=tolerance,
        **{"runner-up": True if runner_up else None},
    )
    images = opt.load_images(model, dataset, data_dir)
    classifier = opt.choose_classifier(model, noise, sigma, keep=keep, levels=levels, sound=sound)
    picked = select_indices(len(images), every=every, first=first, indices=indices)
    how: dict[str, Any] = {
        "alpha": alpha,
        "seed": opt.choose_seed(seed),
        "engine": engine,
        "workers": workers,
        "batch_size": batch_size,
    }
    if dry_run:
        started = time.process_time()  # in the end a run takes as long to get here
        print_preview(classifier, images, picked, chosen, seconds=trial_seconds, started=started, **how)
        return
    how = {**how, "procedure": chosen, "indices": picked, "resume": resume, "show_progress": True}
    try:
        if with_members:
            classifier, folders = panel_classifier(model, classifier)
            outs = {name: out / name for name in folders}
            members = certify_panel(classifier, images, outs=outs, folders=folders, **how)
            runs = {str(outs[name]): run for name, run in members.items()}
        else:
            runs = {str(out): run_certify(classifier, images, out=out, **how)}
    except KeyboardInterrupt:
        print("stopped; finished images are kept, the same command with --resume continues", file=sys.stderr)
        raise typer.Exit(130) from None
    print_summaries([Summary.of_run(run, name) for name, run in runs.items()])
