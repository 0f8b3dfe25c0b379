"""Images on the command line: where they come from, and which of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import data, folders
from smoothcert.cli.options.paths import path_option
from smoothcert.errors import InvalidArgumentError
from smoothcert.reading import kind_of
from smoothcert.visible import brief

_PANEL = "Images"
_INDICES = typer.Option(
    "--indices",
    help="Places of images, from 0 on: 3,5,9 are three; A:B is A to B-1; A: goes to the end; 20:80:5 takes every 5th "
    "of 20 to 79; parts may be mixed, 0:10,20:80:5,99.",
    rich_help_panel=_PANEL,
)


@dataclass(frozen=True)
class Source:
    """Where images come from."""

    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="Name of a data set, or the path of your own: an .npz file (arrays images, labels) or a folder of "
            "class folders. The model's own by default.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    data_dir: Annotated[
        Path | None, path_option("--data-dir", text="Where the data set's files are.", panel=_PANEL)
    ] = None
    split: Annotated[
        str,
        typer.Option(
            "--split",
            help="Part of the data set: test, or train or holdout as the model's training parted them.",
            rich_help_panel=_PANEL,
        ),
    ] = "test"

    def load(self, model: Path, weights: Path | None = None) -> data.Dataset:
        """Read a split of the named data set, or of that which a model, or all of its members, learnt from.

        Args:
            model: its folder; of a file or a factory, the folder of its weights says on what it was trained.
            weights: of a factory.
        """
        teller = weights if weights is not None and kind_of(weights) == "folder" else model
        name = self.dataset or own_dataset(teller)
        size = None if self.split == "test" else _held_out_by(teller, name, self.data_dir)
        return data.load_dataset(name, self.split, self.data_dir, holdout=size)


@dataclass(frozen=True)
class Subset:
    """Which images of the split; all where nothing is said."""

    every: Annotated[
        int | None,
        typer.Option("--every", help="Every K-th image: 0, K, 2K, ..", rich_help_panel=_PANEL),
    ] = None
    offset: Annotated[
        int | None,
        typer.Option(
            "--offset",
            help="Leave out the first K images, then take every, at most max.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    max: Annotated[
        int | None,
        typer.Option(
            "--max",
            help="At most N images, whatever their index (the field's scripts compare theirs with the index).",
            rich_help_panel=_PANEL,
        ),
    ] = None
    first: Annotated[
        int | None, typer.Option("--first", help="The first N images.", rich_help_panel=_PANEL)
    ] = None
    indices: Annotated[str | None, _INDICES] = None

    @property
    def is_chosen(self) -> bool:
        """Whether anything is said."""
        return any(value is not None for value in asdict(self).values())

    def pick(self, images: data.Dataset) -> Sequence[int]:
        """Return the places of the images."""
        return data.select_indices(len(images), **asdict(self))


def _held_out_by(model: Path, name: str, data_dir: Path | None) -> int | None:
    """Return how many images the training of a model held out of the data set it is asked about; None for the usual."""
    if folders.is_own(model):
        return None
    # A file is known by its own name, wherever it lies; a folder of pictures by that of its kind.
    if {data.find_source(name, data_dir)[0], Path(name).name}.isdisjoint(folders.trained_on(model)):
        return None
    sizes = folders.held_out_by(model)
    if len(sizes) > 1:
        raise InvalidArgumentError(
            f"--split must be test: the members of {model} held out different numbers of images, so that train and "
            "holdout are not the same for all"
        )
    return sizes[0]


def own_dataset(model: Path) -> str:
    """Return the name of the data set that a model, or all of its members, was trained on; refuse where there is none.

    Args:
        model: its folder.
    """
    names = () if folders.is_own(model) else folders.trained_on(model)
    if not names:
        raise InvalidArgumentError(
            f"--dataset is needed: {model} does not say on what it was trained; known: {', '.join(data.DATASETS)}"
        )
    if len(names) > 1 or names[0] not in data.DATASETS:
        raise InvalidArgumentError(
            f"--dataset is needed: {model} was trained on {', '.join(map(brief, names))}, and "
            f"{'its members must agree' if len(names) > 1 else 'no data set has that name'} to leave it out; "
            f"known: {', '.join(data.DATASETS)}"
        )
    return names[0]
