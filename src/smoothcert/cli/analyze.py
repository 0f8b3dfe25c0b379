"""`smoothcert analyze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from smoothcert.certificates import MOST_RADII, check_list, check_radius
from smoothcert.cli.options import (
    DataDir,
    choose_seed,
    folder_option,
    path_argument,
    path_option,
    read_numbers,
)
from smoothcert.data import Dataset, load_dataset
from smoothcert.ensembles import common_holdout
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import EnsembleCard, read_any_card
from smoothcert.report import Summary, members_to_json, print_summaries, say, time_factor
from smoothcert.store import Run


def analyze(
    paths: Annotated[
        list[Path],
        path_argument("PATH...", "Run folders and TSV logs of the field; one ensemble with --variance."),
    ],
    against: Annotated[
        Path | None,
        path_option("--against", text="Run of CERTIFY to compare time with; adds TimeRF."),
    ] = None,
    radii: Annotated[
        str | None,
        typer.Option(
            "--radii", help="Radii to read certified accuracy at, such as 0,0.5,1; a grid by default."
        ),
    ] = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Print 95% intervals over images too; --json always has them.")
    ] = False,
    norm: Annotated[
        str | None,
        typer.Option(
            "--norm",
            help="Radii in l1, l2 or linf instead of the noise's own norm. linf is l2 / sqrt(coordinates): true, but "
            "weak.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
    variance: Annotated[
        bool,
        typer.Option(
            "--variance", help="Fit the variance model to an ensemble; the options below are its own."
        ),
    ] = False,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Where images come from; digits by default.")
    ] = None,
    data_dir: DataDir = None,
    split: Annotated[
        str | None,
        typer.Option("--split", help="Part of the data set; what the members held out by default."),
    ] = None,
    images: Annotated[
        int | None, typer.Option("--images", help="Images, evenly spread; 50 by default.")
    ] = None,
    noises: Annotated[int | None, typer.Option("--noises", help="Noisy copies each; 100 by default.")] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Seed of the noise; drawn in secret by default, and told.")
    ] = None,
    out: Annotated[Path | None, folder_option("--out", text="Folder to write figures to.")] = None,
) -> None:
    """Print certified accuracy at radii, ACR and cost of runs or published logs; or why an ensemble helps.

    Example:

      smoothcert analyze runs/ensemble published.tsv --radii 0,0.5,1 --intervals

      smoothcert analyze runs/adaptive --against runs/certify --json

      smoothcert analyze demo/models/ensemble --variance --dataset digits --out figures
    """
    own = {"dataset": dataset, "data-dir": data_dir, "split": split, "images": images}
    own |= {"noises": noises, "seed": seed, "out": out}
    if variance:
        if len(paths) != 1 or against or norm or radii or intervals:
            raise InvalidArgumentError(
                "--variance takes one ensemble folder, and no --against, --norm, --radii or --intervals"
            )
        _analyze_variance(
            paths[0],
            dataset=dataset or "digits",
            data_dir=data_dir,
            split=split,
            images=50 if images is None else images,
            noises=100 if noises is None else noises,
            seed=choose_seed(seed),
            out=out,
            as_json=as_json,
        )
        return
    for name, value in own.items():
        if value is not None:
            raise InvalidArgumentError(f"--{name} belongs to --variance: add that, or leave --{name} out")
    grid = None if radii is None else _read_radii(radii)
    reference = None if against is None else _reference(against)
    summaries = [Summary.of_path(path, norm) for path in paths]
    if not as_json:
        print_summaries(summaries, grid, intervals=intervals, reference=reference)
        return
    rows = [summary.to_json(grid) for summary in summaries]
    for summary, row in zip(summaries, rows, strict=True):
        row["members"] = members_to_json(summary, summaries, grid)
        if reference is not None:
            row["time_reduction"] = time_factor(summary, reference)
    print(json.dumps(rows, indent=2))


def _read_radii(text: str) -> NDArray[np.float64]:
    """Read the radii to look at; refuse what is none."""
    radii = check_list("--radii", read_numbers("--radii", text), MOST_RADII)
    for radius in radii:
        check_radius("each of --radii", radius)
    return np.array(radii, dtype=np.float64)


def _reference(folder: Path) -> Summary:
    """Read the run to compare time with; refuse one that has none to compare with."""
    found = Summary.of_run(Run.open(folder), str(folder))
    if not found.seconds:
        raise InvalidArgumentError(
            f"--against: {folder} has no finished image whose time is known; finish it with --resume, or give another"
        )
    return found


def _study_images(folder: Path, dataset: str, data_dir: Path | None, split: str | None) -> Dataset:
    """Read the split asked for; by default the images that the members held out, or test images if they held none."""
    card = read_any_card(folder)
    members = (
        [folder / member.path for member in card.members] if isinstance(card, EnsembleCard) else [folder]
    )
    size = None
    if split in (None, "holdout"):
        try:
            size = common_holdout(read_any_card(member) for member in members)
        except InvalidArgumentError:
            if split is not None:
                raise
            say("the members held out no images in common; looking at test images", error=True)
            split = "test"
    return load_dataset(dataset, split or "holdout", data_dir, holdout=size)


def _analyze_variance(
    folder: Path,
    *,
    dataset: str,
    data_dir: Path | None,
    split: str | None,
    images: int,
    noises: int,
    seed: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Print the variance study of one ensemble, and write its figures."""
    from smoothcert.report import print_variance, variance_to_json, write_variance_figures
    from smoothcert.theory import study_ensemble

    source = _study_images(folder, dataset, data_dir, split)
    study = study_ensemble(folder, source, images=images, noises=noises, seed=seed)
    if as_json:
        print(json.dumps(variance_to_json(study), indent=2))
    else:
        print_variance(study)
    if out is not None:
        for path in write_variance_figures(study, out):
            say(f"wrote {path}", error=True)
