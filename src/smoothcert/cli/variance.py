"""`smoothcert analyze --variance`: why an ensemble helps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import data, ensembles, folders, report
from smoothcert.cli import options as opt
from smoothcert.errors import InvalidArgumentError

_PANEL = "Variance"
_IMAGES, _NOISES = 50, 100  # by default


@dataclass(frozen=True)
class Variance:
    """Whether to fit the variance model to an ensemble, and on what."""

    variance: Annotated[
        bool,
        typer.Option(
            "--variance",
            help="Fit the variance model to an ensemble; the options here are its own.",
            rich_help_panel=_PANEL,
        ),
    ] = False
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="Where images come from; digits by default.", rich_help_panel=_PANEL),
    ] = None
    data_dir: Annotated[
        Path | None, opt.path_option("--data-dir", text="Where the data set's files are.", panel=_PANEL)
    ] = None
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            help="Part of the data set; what the members held out by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    images: Annotated[
        int | None,
        typer.Option(
            "--images", help=f"Images, evenly spread; {_IMAGES} by default.", rich_help_panel=_PANEL
        ),
    ] = None
    noises: Annotated[
        int | None,
        typer.Option("--noises", help=f"Noisy copies each; {_NOISES} by default.", rich_help_panel=_PANEL),
    ] = None
    seed: Annotated[
        str | None,
        typer.Option(
            "--seed",
            help="Seed of the noise; drawn in secret by default, and told.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    out: Annotated[
        Path | None, opt.folder_option("--out", text="Folder to write figures to.", panel=_PANEL)
    ] = None

    def refuse(self) -> None:
        """Refuse what is told about the variance model where none is fitted."""
        for name, value in opt.typed(self).items():
            if value is not None and value is not False:
                raise InvalidArgumentError(f"--{name} belongs to --variance: add that, or leave --{name} out")

    def study(self, folder: Path, *, as_json: bool) -> None:
        """Print the variance study of one ensemble, and write its figures.

        Args:
            folder: of the ensemble.
            as_json: print unrounded figures instead of tables.
        """
        from smoothcert.report import print_variance, variance_to_json, write_variance_figures
        from smoothcert.theory import study_ensemble

        seed = opt.choose_seed(self.seed)
        study = study_ensemble(
            folder,
            _study_images(folder, self.dataset or "digits", self.data_dir, self.split),
            images=_IMAGES if self.images is None else self.images,
            noises=_NOISES if self.noises is None else self.noises,
            seed=seed,
        )
        if as_json:
            print(json.dumps(variance_to_json(study), indent=2))
        else:
            print_variance(study)
        if self.out is not None:
            for path in write_variance_figures(study, self.out):
                report.say(f"wrote {path}", error=True)


def _study_images(folder: Path, dataset: str, data_dir: Path | None, split: str | None) -> data.Dataset:
    """Read the split asked for; by default the images that the members held out, or test images if they held none."""
    card = folders.read_any_card(folder)
    members = (
        [folder / member.path for member in card.members]
        if isinstance(card, folders.EnsembleCard)
        else [folder]
    )
    size = None
    if split in (None, "holdout"):
        try:
            size = ensembles.common_holdout(folders.read_any_card(member) for member in members)
        except InvalidArgumentError:
            if split is not None:
                raise
            report.say("the members held out no images in common; looking at test images", error=True)
            split = "test"
    return data.load_dataset(dataset, split or "holdout", data_dir, holdout=size)
