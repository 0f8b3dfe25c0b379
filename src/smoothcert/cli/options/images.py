"""Test images on the command line: where they come from, and which of them."""

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

_PANEL = "Test images"


@dataclass(frozen=True)
class Source:
    """Where test images come from."""

    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", help="Name of the data set; the model's own by default.", rich_help_panel=_PANEL
        ),
    ] = None
    data_dir: Annotated[
        Path | None, path_option("--data-dir", text="Where the data set's files are.", panel=_PANEL)
    ] = None

    def load(self, model: Path, weights: Path | None = None) -> data.Dataset:
        """Read the test split of the named data set, or of that which a model, or all of its members, learnt from.

        Args:
            model: its folder; of a file or a factory, the folder of its weights says on what it was trained.
            weights: of a factory.
        """
        teller = weights if weights is not None and kind_of(weights) == "folder" else model
        name = self.dataset or _own_dataset(teller)
        return data.load_dataset(name, split="test", data_dir=self.data_dir)


@dataclass(frozen=True)
class Subset:
    """Which test images; all where nothing is said."""

    every: Annotated[
        int | None, typer.Option("--every", help="Every K-th test image.", rich_help_panel=_PANEL)
    ] = None
    first: Annotated[
        int | None, typer.Option("--first", help="The first N test images.", rich_help_panel=_PANEL)
    ] = None
    indices: Annotated[
        str | None, typer.Option("--indices", help="Test images A:B.", rich_help_panel=_PANEL)
    ] = None

    @property
    def is_chosen(self) -> bool:
        """Whether anything is said."""
        return any(value is not None for value in asdict(self).values())

    def pick(self, images: data.Dataset) -> Sequence[int]:
        """Return the places of the images."""
        return data.select_indices(len(images), **asdict(self))


def _own_dataset(model: Path) -> str:
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
