"""`smoothcert quantize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smoothcert import data, folders, report, workflows
from smoothcert.cli import options as opt
from smoothcert.cli.told.quantized import other_rounding, quantized_sentence


def quantize(
    model: Annotated[Path, opt.path_argument("MODEL", "Folder of a model or of an ensemble in float32.")],
    out: Annotated[Path, opt.folder_option("--out", text="Folder to write the quantised model to.")],
    precision: Annotated[
        str, typer.Option("--precision", help="int8, or bfloat16 (which needs OpenVINO).")
    ] = "int8",
    seven_bits: Annotated[
        bool | None,
        typer.Option(
            "--seven-bits/--eight-bits",
            help="int8 weights in half of their range, for processors without VNNI, which saturate; by default "
            "where this one is.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="Hold-out images of this data set set ranges and choose; the model's own by default.",
        ),
    ] = None,
    data_dir: opt.DataDir = None,
    images: Annotated[int, typer.Option("--images", help="Hold-out images to use.")] = 1_000,
    draws: Annotated[int, typer.Option("--draws", help="Noisy copies of each.")] = 2,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Of their noise; drawn and recorded by default.")
    ] = None,
    factory: opt.Factory = None,
) -> None:
    """Make a model in int8 or bfloat16: another classifier, cheaper to run, with certificates of its own.

    OUT holds one ONNX file that can be deployed as it is. Ranges are set, and ways to round chosen, on noisy hold-out
    images, never on test images. Of an ensemble every member is quantised, into folders of its own in OUT.

    Example:

      smoothcert quantize models/member-0 --out models/int8

      smoothcert certify models/int8 --first 100 --out runs/int8

      smoothcert quantize models/ensemble --dataset cifar10 --data-dir data --out models/ensemble-int8

      smoothcert quantize models/member-0 --precision bfloat16 --out models/bfloat16
    """
    chosen = _images(model, dataset, data_dir)
    workflows.quantize(
        model,
        chosen,
        out,
        precision=precision,
        seven_bits=seven_bits,
        images=images,
        draws=draws,
        seed=opt.choose_seed(seed),
        factories=factory or (),
        show_progress=True,
    )
    for card in folders.network_cards(out):
        assert card.quantized is not None
        report.say(quantized_sentence(card.architecture, card.quantized))
        other = other_rounding(card)
        if other is not None:
            report.say(other, error=True)
    report.say(
        f"{out} is another classifier than {model}, whose certificates do not hold for it: certify it as itself"
    )


def _images(model: Path, dataset: str | None, data_dir: Path | None) -> data.Dataset:
    """Read the images that the model held out; of one that learnt all of them, the training images."""
    sizes = folders.held_out_by(model)
    if sizes in ((0,), ()) or len(sizes) > 1:
        report.say(
            f"{model} has learnt all training images, or its members held out different ones: ranges are set on "
            "training images, and the figures below may flatter"
        )
        name = dataset or opt.own_dataset(model)
        return data.load_dataset(name, "train", data_dir, holdout=0)
    return opt.Source(dataset, data_dir, "holdout").load(model)
