"""`smoothcert report`."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import report as reports
from smoothcert import workflows
from smoothcert.cli import options as opt
from smoothcert.errors import InvalidArgumentError


@dataclass(frozen=True)
class Shown:
    """What the page shows beside the runs."""

    title: Annotated[str | None, typer.Option("--title", help="Heading; the runs' names by default.")] = None
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="Name or path of the last run's images; by default where the run says they were.",
        ),
    ] = None
    data_dir: opt.DataDir = None
    attack: Annotated[
        Path | None, opt.path_option("--attack", text="Folder of an attack on the last run: adds its curve.")
    ] = None
    against: Annotated[
        Path | None, opt.path_option("--against", text="Run of CERTIFY to compare time with; adds TimeRF.")
    ] = None
    models: Annotated[
        list[Path] | None,
        opt.path_option("--model", text="Model folder of a run, if it was moved; may be repeated."),
    ] = None
    images: Annotated[
        bool, typer.Option("--images/--no-images", help="Show a few images of the last run.")
    ] = True
    gap_image: Annotated[
        int | None,
        typer.Option(
            "--gap-image", help="Image for the log-probability gaps; one of median radius by default."
        ),
    ] = None
    gap_copies: Annotated[
        int | None,
        typer.Option(
            "--gap-copies", help="Noisy copies for them; about a second's worth by default, 0 for none."
        ),
    ] = None

    def parts(self, radii: Sequence[float] | None) -> workflows.PageParts:
        """Return it, with the radii of tables, as the arguments of a page."""
        return workflows.PageParts(
            title=self.title,
            dataset=self.dataset,
            data_dir=self.data_dir,
            attack=self.attack,
            against=self.against,
            models=tuple(self.models or ()),
            images=self.images,
            gap_image=self.gap_image,
            gap_copies=self.gap_copies,
            radii=radii,
        )


@opt.unfolded
def report(
    paths: Annotated[
        list[Path],
        opt.path_argument(
            "PATH...", "Run folders and TSV logs of the field, the main one last; NAME=PATH names one."
        ),
    ],
    shown: Shown,
    paper: opt.PaperFiles,
    out: Annotated[
        Path | None, opt.path_option("--out", "-o", text="The page to write, such as report.html.")
    ] = None,
    radii: opt.Radii = None,
    target: opt.Target = None,
    norm: opt.Norm = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page when it is done.")] = False,
) -> None:
    """Write one page about runs and published logs that can be read anywhere, and tables and figures for papers.

    The page needs no network and no other file: curves with intervals, tables, cost, where votes were spent, class by
    class, images with noisy copies, and the command that repeats each run.

    Example:

      smoothcert report demo/runs/member-0 demo/runs/ensemble --out report.html --open

      smoothcert report Gaussian=gaussian.tsv "SmoothAdv=smoothadv.tsv" --out methods.html --title "MNIST, sigma .5"

      smoothcert report runs/ensemble --attack attacks/ensemble --against runs/certify --out ensemble.html

      smoothcert report runs/a-seed0 runs/a-seed1 runs/b --latex table.tex --figures figures --costs
    """
    if out is None and not paper.is_asked:
        raise InvalidArgumentError(
            "--out is missing; give the page to write, such as --out report.html, or a table such as --latex table.tex"
        )
    if out is not None:
        workflows.check_page(out)  # before anything is read or run for it
    named = reports.named_paths(paths)
    read = opt.read_summaries(list(named.values()), norm, target)
    summaries = [summary.renamed(name) for name, summary in zip(named, read, strict=True)]
    grid, models = opt.read_radii(radii), tuple(shown.models or ())
    parts = shown.parts(None if grid is None else grid.tolist())
    found = workflows.NOTHING_FOUND
    if out is not None or paper.figures is not None:
        found = workflows.find_material(summaries, parts, tell=lambda line: reports.say(line, error=True))
    paper.write(summaries, models=models, paths=named, radii=grid, gaps=found.gaps)
    if out is None:
        return
    workflows.write_page(summaries, out, parts, found)
    reports.say(f"Page: {out}")
    if show:
        webbrowser.open(out.resolve().as_uri())
