"""What was understood of a model, told before votes are spent."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn

from smoothcert.certificates import FixedSample, SmoothedClassifier, identities
from smoothcert.data import Dataset
from smoothcert.engines import Processor, device_of, this_processor, turn
from smoothcert.networks import (
    as_logits,
    multiply_adds_of,
    normalisation_of,
    parameters_of,
    precision_of,
)
from smoothcert.workflows.normalisation import doubtful_normalisation, is_unknown

_COPIES = 64
_NAMED = 3  # classes
_GREY = 0.5


@dataclass(frozen=True)
class Description:
    """What is known about a classifier, and what it answers to some noisy copies of one image.

    Not a certificate, nor a prediction: 64 votes prove nothing.

    Args:
        kind: "folder", "onnx" or "factory".
        network: name of its class.
        name: of the file or factory; None for a model folder.
        num_classes: number of classes.
        input_shape: shape of one image.
        mean: per channel, of the first layer that normalises; None if none is seen.
        std: likewise.
        parameters: numbers in its weights; None where they cannot be counted.
        multiply_adds: of one image's pass; None where they cannot be counted.
        noise: the law it is smoothed with.
        trained_on: names of data sets; none where nobody told.
        identity: what certificates call it.
        engine: that "auto" takes for one image by CERTIFY.
        engine_reason: why, in words.
        engine_costs: seconds of one core per vote, by engine; none where such a job is too short to measure any.
        precision: what it is calculated in where that is less than float32; else None.
        processor: what this one has instructions for below float32; not what the model is run in.
        image: what was asked about.
        answers: the classes it answered most often and their shares of the noisy copies.
        warnings: one line each.
    """

    kind: str
    network: str
    name: str | None
    num_classes: int
    input_shape: tuple[int, ...]
    mean: tuple[float, ...] | None
    std: tuple[float, ...] | None
    parameters: int | None
    multiply_adds: int | None
    noise: dict[str, Any]
    trained_on: tuple[str, ...]
    identity: str
    engine: str
    engine_reason: str
    engine_costs: dict[str, float]
    precision: str | None
    processor: Processor
    image: str
    answers: tuple[tuple[str, float], ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def describe(classifier: SmoothedClassifier, dataset: Dataset | None = None) -> Description:
    """Say what was understood of a classifier, and ask it about noisy copies of one image.

    Args:
        classifier: what `load_classifier` returned; its `input_shape` is known.
        dataset: whose first image is asked about, and by whose labels the normalisation is looked at; a grey image is
            asked about where there is none.
    """
    shape = classifier.input_shape or (() if dataset is None else dataset.input_shape)
    image = torch.full(shape, _GREY) if dataset is None else dataset.image(0)
    image = classifier.check_image(image)
    model, first = classifier.model, normalisation_of(classifier.model)
    is_module = isinstance(model, nn.Module)
    votes = FixedSample().plan(classifier.noise.for_shape(shape), 0.001).planned_votes
    line = None
    if dataset is not None and is_unknown(classifier):
        line = doubtful_normalisation(classifier, dataset, range(len(dataset)))
    trained, source = classifier.trained_for, classifier.source
    choice = classifier.engine_choice(image, votes)
    return Description(
        kind="folder" if source is None else str(source["kind"]),
        network=type(model).__name__,
        name=None if source is None else str(source["name"]),
        num_classes=classifier.num_classes,
        input_shape=tuple(shape),
        mean=None if first is None else tuple(first.mean.flatten().tolist()),
        std=None if first is None else tuple(first.std.flatten().tolist()),
        parameters=parameters_of(model) if is_module else None,
        multiply_adds=multiply_adds_of(model, image) if is_module else None,
        noise=classifier.noise.describe(),
        trained_on=() if trained is None else trained.datasets,
        identity=identities(model)[0],
        engine=choice.name,
        engine_reason=choice.reason(),
        engine_costs=dict(choice.costs),
        precision=precision_of(model),
        processor=this_processor(),
        image="a grey image" if dataset is None else f"image 0 of {dataset.name}",
        answers=_answers(classifier, image, dataset),
        warnings=() if line is None else (line,),
    )


def _answers(
    classifier: SmoothedClassifier, image: torch.Tensor, dataset: Dataset | None
) -> tuple[tuple[str, float], ...]:
    noisy = torch.empty((_COPIES, *image.shape))
    classifier.noise.for_shape(image.shape).perturb(image, noisy, torch.Generator().manual_seed(0))
    with torch.inference_mode(), turn():
        logits = as_logits(classifier.model(noisy.to(device_of(classifier.model))), len(noisy))
    shares = torch.bincount(logits.argmax(dim=1).cpu(), minlength=classifier.num_classes) / _COPIES
    names = classifier.class_names
    if names is None and dataset is not None and dataset.num_classes == classifier.num_classes:
        names = dataset.class_names
    best = shares.argsort(descending=True, stable=True)[:_NAMED].tolist()
    return tuple(
        (str(number) if names is None else names[number], float(shares[number]))
        for number in best
        if shares[number] > 0
    )
