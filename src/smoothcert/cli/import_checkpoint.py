"""`smoothcert import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import folders, report
from smoothcert.cli import options as opt
from smoothcert.cli.members import TRAINED_NOISE, training_noise

GROUPS = (TRAINED_NOISE,)
"""Options that come from members."""


def import_command(
    ctx: typer.Context,
    file: Annotated[Path, opt.path_argument("FILE", "Checkpoint: a torch file or safetensors.")],
    out: Annotated[Path, opt.folder_option("--out", text="Model folder to write.")],
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="What it was trained on; its numbers normalise.")
    ] = None,
    family: Annotated[
        str | None,
        typer.Option("--family", help=f"Whose: {', '.join(folders.FAMILIES)}; the file tells if it can."),
    ] = None,
    arch: Annotated[
        str | None,
        typer.Option("--arch", help="Network, by our name or theirs; the weights tell by default."),
    ] = None,
    num_classes: Annotated[
        int | None, typer.Option("--num-classes", help="To be compared with the last layer.")
    ] = None,
    mean: Annotated[
        str | None, typer.Option("--mean", help="Per channel, such as 0.49,0.48,0.45, in pixel units.")
    ] = None,
    std: Annotated[
        str | None, typer.Option("--std", help="Likewise; 1 where images were only centred.")
    ] = None,
    no_normalize: Annotated[
        bool, typer.Option("--no-normalize", help="The network takes images as they are.")
    ] = False,
    classifier: Annotated[
        Path | None,
        opt.path_option("--classifier", text="Of a denoiser: model folder of the classifier behind it."),
    ] = None,
) -> None:
    """Turn a checkpoint that a paper published into a model folder.

    No code in the file is run. What the file does not say is asked for; what has no place is an error. Which files are
    read, and what must be said of each: docs/checkpoints.md.

    Example:

      smoothcert import checkpoint.pth.tar --family cohen --dataset cifar10 --sigma 0.25 --out models/cohen

      smoothcert import 440.pth --dataset cifar10 --sigma 0.5 --out models/macer

      smoothcert import best.pth.tar --sigma 0.25 --classifier models/plain --out models/denoised
    """
    card = folders.import_checkpoint(
        file,
        out,
        noise=training_noise(TRAINED_NOISE.given(ctx)),
        dataset=dataset,
        family=family,
        arch=arch,
        num_classes=num_classes,
        mean=None if mean is None else opt.read_numbers("--mean", mean),
        std=None if std is None else opt.read_numbers("--std", std),
        normalize=not no_normalize,
        classifier=classifier,
    )
    for line in _lines(card, out):
        report.say(line)


def _lines(card: folders.ModelCard, out: Path) -> list[str]:
    """Say what was imported, what was done to it and what was left out."""
    told: Any = card.training["imported"]
    heads = "" if card.heads is None else f" with {card.heads} heads"
    before = "" if card.denoised is None else f" before {card.denoised.classifier}"
    lines = [
        f"{out}: {card.architecture}{heads}{before}, {card.num_classes} classes, images of {card.input_shape}; "
        f"{told['tensors']} tensors of {told['file']} placed, none left over",
    ]
    if card.denoised is None:
        lines.append(f"mean {card.mean}, std {card.std}: {told['normalisation']}")
    for name, what in (("families", "family"), ("prefixes", "prefixes taken off"), ("dropped", "dropped")):
        if told[name]:
            lines.append(
                f"{what}: {' or '.join(told[name]) if name == 'families' else ', '.join(told[name])}"
            )
    return [*lines, *told["notes"]]
