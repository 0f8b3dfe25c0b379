"""Options of `smoothcert train` that belong together: what decides the weights, and where they are trained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import training
from smoothcert.cli.options import running as opt
from smoothcert.cli.options.paths import path_option
from smoothcert.cli.options.recipe import Changes

_HEADS = "Heads"


@dataclass(frozen=True)
class Training:
    """What decides the weights beside the recipe's settings."""

    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="Name of a data set, or the path of your own: an .npz file (arrays train_images, train_labels) or a "
            "folder of class folders. The recipe's by default.",
        ),
    ] = None
    data_dir: opt.DataDir = None
    max_train_images: Annotated[
        int | None, typer.Option("--max-train-images", help="Train on that many images only.")
    ] = None
    holdout: Annotated[
        str | None,
        typer.Option(
            "--holdout",
            help="Training images to hold out and measure on, or none to train on all; the recipe's by default.",
        ),
    ] = None
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            help="32-true, or bf16-mixed to multiply in bfloat16, faster where the processor has instructions for it; "
            "weights stay float32. The recipe's by default.",
        ),
    ] = None
    seed: Annotated[
        str | None, typer.Option("--seed", help="Of weights, order and noise; drawn and recorded by default.")
    ] = None
    classifier: Annotated[
        Path | None,
        path_option("--classifier", text="Classifier to train a denoiser for (denoiser recipes)."),
    ] = None
    heads: Annotated[
        int | None,
        typer.Option(
            "--heads",
            help="Heads on one trunk, whose mean predicts; none by default.",
            rich_help_panel=_HEADS,
        ),
    ] = None
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            help='Where heads begin: a stage, a block such as stage3.9, or the share of layers in a head, "34%"; '
            "before the last residual stage by default.",
            rich_help_panel=_HEADS,
        ),
    ] = None

    def config(self, recipe: str, row: float | None, changes: Changes) -> training.TrainConfig:
        """Return what decides the weights."""
        # As changes, because a method that needs heads is refused without them.
        own = {
            "heads": self.heads,
            "split": self.split,
            "holdout": self.holdout,
            "precision": self.precision,
        }
        told = [f"{name}={value}" for name, value in own.items() if value is not None]
        config = changes.config(recipe, row, told)
        extra = {
            "dataset": self.dataset,
            "max_train_images": self.max_train_images,
            "classifier": None if self.classifier is None else str(self.classifier),
            "data_dir": None if self.data_dir is None else str(self.data_dir),
            "seed": opt.choose_seed(self.seed),
        }
        return config.changed(**{name: value for name, value in extra.items() if value is not None})


@dataclass(frozen=True)
class Devices:
    """Where it is trained."""

    devices: Annotated[int, typer.Option("--devices", help="Processes, each on a device of its own.")] = 1
    accelerator: Annotated[str, typer.Option("--accelerator", help="auto, cpu or cuda.")] = "auto"
