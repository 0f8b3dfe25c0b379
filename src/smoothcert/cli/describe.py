"""`smoothcert describe`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import data, report, workflows
from smoothcert.cli import options as opt
from smoothcert.cli.members import NOISE, choose_classifier
from smoothcert.errors import SmoothcertError

GROUPS = (NOISE,)
"""Options that come from members."""


@opt.unfolded
def describe(
    ctx: typer.Context,
    model: opt.ModelFolder,
    own: opt.OwnModel,
    source: opt.Source,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Say what is understood of a model, and what it answers to one noisy image, before votes are spent.

    Classes, shape, normalisation, size, noise, identity and engine; then the classes of some noisy copies of an image
    of the data set, or of a grey one. A normalisation that looks doubled or missing is told.

    Example:

      smoothcert describe net.onnx --sigma 0.25 --dataset digits
    """
    images = _images(model, own, source)
    told = workflows.describe(choose_classifier(model, NOISE.given(ctx), own.facts(model, images)), images)
    if as_json:
        print(json.dumps(told.to_json(), indent=2))
        return
    for line in report.describe_lines(told.to_json(), str(model)):
        report.say(line)


def _images(model: Path, own: opt.OwnModel, source: opt.Source) -> data.Dataset | None:
    """Read the images that are named, or that the model was trained on; None where nobody says or has any."""
    if source.dataset is not None:
        return source.load(model, own.weights)
    try:
        return source.load(model, own.weights)
    except (
        SmoothcertError
    ):  # nobody says, or has the files; what is wrong with the model is told when it is loaded
        return None
