"""`smoothcert predict`."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from smoothcert import certificates
from smoothcert.cli import options as opt
from smoothcert.cli.members import NOISE, choose_classifier
from smoothcert.seeding import check_seed
from smoothcert.visible import visible

GROUPS = (NOISE,)
"""Options that come from members."""
_FEW = 10  # images, where nothing is said


@opt.unfolded
def predict(
    ctx: typer.Context,
    model: opt.ModelFolder,
    own: opt.OwnModel,
    source: opt.Source,
    subset: opt.Subset,
    n: Annotated[int, typer.Option("--n", help="Votes per image.")] = 1_000,
    alpha: opt.Alpha = 0.001,
    seed: opt.Seed = None,
    workers: opt.Workers = None,
    engine: opt.Engine = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list instead of lines.")] = False,
) -> None:
    """Answer with the smoothed classifier's class for images of a data set, the first ten by default, or abstain.

    The answer is the smoothed classifier's class except with probability alpha; it says nothing about
    images nearby (see certify).

    Example:

      smoothcert predict demo/models/ensemble --dataset digits --indices 0:5
    """
    images = source.load(model, own.weights)
    classifier = choose_classifier(model, NOISE.given(ctx), own.facts(model, images))
    answers, secret = [], check_seed(opt.choose_seed(seed))
    picked = subset.pick(images) if subset.is_chosen else range(len(images))[:_FEW]
    certificates.check_match(classifier, images, picked)
    for index in picked:
        predicted = classifier.predict(
            images.image(index), n, alpha, seed=secret, index=index, engine=engine, workers=workers
        )
        label = int(images.labels[index])
        answers.append({"idx": index, "label": label, "predicted": predicted})
        if not as_json:
            name = "abstain" if predicted is None else images.class_names[predicted]
            shown = visible(str(name)), visible(str(images.class_names[label]))
            print(f"{index}\t{shown[0]}\t(label {shown[1]})", flush=True)
    if as_json:
        print(json.dumps({"seed": str(secret), "n": n, "alpha": alpha, "answers": answers}))
    else:
        print(f"seed {secret}", file=sys.stderr)
