"""An imported network or denoiser with its card, held to its weights' shapes before anything large is built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import nn

from smoothcert.data import DATASETS
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.checkpoint import load_checkpoint
from smoothcert.folders.checkpoints.family import Numbers
from smoothcert.folders.checkpoints.layout import Entries, Placed
from smoothcert.folders.checkpoints.tensors import our_entries, our_tensors
from smoothcert.folders.denoised_folder import classifier_card, denoised_entry
from smoothcert.folders.filling import filled, refuse_other_network
from smoothcert.folders.model_card import DenoisedEntry, ModelCard
from smoothcert.folders.records import first_fault
from smoothcert.networks import (
    MODELS,
    MOST_DEPTH,
    MOST_WIDTH,
    Denoised,
    DnCNN,
    Normalize,
    checked_classes,
    checked_shape,
    refuse_shapes,
)

_NO_DIGEST = "0" * 64  # stands in an entry until the denoiser is there


@dataclass(frozen=True)
class Found:
    """What a file was found to hold, and what its card will say.

    Args:
        source: names the file in messages.
        placed: where its weights belong.
        entries: type and shape of each, by the file's names.
        tensors: the weights, by the file's names.
        noise: what `NoiseLaw.describe` returned.
        dataset: name of the one trained on; None where it is not known.
        training: what the card says in place of a training's settings.
    """

    source: str
    placed: Placed
    entries: Entries
    tensors: dict[str, torch.Tensor]
    noise: dict[str, Any]
    dataset: str | None
    training: dict[str, Any]

    @property
    def channels(self) -> int:
        """Channels of one image, as the first convolution has them."""
        shape = self.entries[self.placed.first][1]
        return shape[1] if len(shape) == 4 else 0

    def card(self, **facts: Any) -> ModelCard:
        """Return the card with what is said here, and with further facts."""
        try:
            return ModelCard(
                architecture=self.placed.architecture,
                method="imported",
                noise=self.noise,
                dataset={"name": self.dataset or "unknown", "digest": ""},  # the files were not seen
                training=self.training,
                metrics={},
                **facts,
            )
        except ValidationError as error:
            raise CheckpointError(
                f"{self.source} cannot be kept as a model: {first_fault(error)}; give another file"
            ) from error


def built_network(found: Found, numbers: Numbers, num_classes: int | None) -> tuple[nn.Module, ModelCard]:
    """Return a network that normalises, and its card.

    Args:
        found: what the file holds.
        numbers: mean and std.
        num_classes: what the user says; None where nothing was said.
    """
    place, source = found.placed, None if found.dataset is None else DATASETS[found.dataset]
    assert place.last is not None
    classes = checked_classes((*found.entries[place.last][1], 0)[0])
    for who, number in (
        ("num_classes says", num_classes),
        (f"{found.dataset} has", source.num_classes if source else None),
    ):
        if number is not None and number != classes:
            raise InvalidArgumentError(
                f"{who} {number}, but the last layer in {found.source} has {classes} classes; leave it out, or give "
                "another file"
            )
    told = None if source is None else source.input_shape  # of files, the files decide
    usual = MODELS[place.architecture].input_shape if told is None else told
    if told is not None and told[0] != found.channels:
        raise InvalidArgumentError(
            f"images of {found.dataset} have {told[0]} channels, but the first layer in {found.source} takes "
            f"{found.channels}; name another data set"
        )
    shape = checked_shape((found.channels, *usual[1:]))
    normalize = Normalize(shape, *numbers)  # refuses other numbers than one per channel
    card = found.card(
        num_classes=classes,
        input_shape=shape,
        mean=numbers[0],
        std=numbers[1],
        class_names=_class_names(found.dataset, classes),
        heads=place.heads,
    )
    home = "" if place.heads is None else "trunk."
    own = {f"{home}normalize.{name}": value for name, value in normalize.state_dict().items()}
    of_own = {name: (value.dtype, tuple(value.shape)) for name, value in own.items()}
    refuse_other_network(card, {**our_entries(place, found.entries), **of_own}, found.source)
    tensors = our_tensors(place, found.tensors, found.source)
    return filled(card, {**own, **tensors}, None, found.source).eval(), card


def built_denoiser(found: Found, classifier: str | Path, out: Path) -> tuple[nn.Module, ModelCard]:
    """Return a denoiser before a classifier, and their card.

    Args:
        found: what the file holds.
        classifier: model folder of the classifier.
        out: where the denoiser will be written.
    """
    assert found.placed.size is not None
    (depth, width), behind = found.placed.size, classifier_card(classifier)
    if depth > MOST_DEPTH or width > MOST_WIDTH:
        raise InvalidArgumentError(
            f"the denoiser in {found.source} is {depth:,} layers deep and {width:,} wide; at most {MOST_DEPTH:,} and "
            f"{MOST_WIDTH:,} are read"
        )
    shape = checked_shape((found.channels, *behind.input_shape[1:]))
    entry = DenoisedEntry(
        depth=depth, width=width, digest=_NO_DIGEST, classifier=".", classifier_digest=behind.digest
    )
    card = found.card(
        num_classes=behind.num_classes,
        input_shape=shape,
        mean=behind.mean,
        std=behind.std,
        class_names=behind.class_names,
        denoised=entry,
    )
    refuse_other_network(card, our_entries(found.placed, found.entries), found.source)
    denoiser = DnCNN(found.channels, depth, width)
    denoiser.load_state_dict(our_tensors(found.placed, found.tensors, found.source))
    refuse_shapes(denoiser, behind.input_shape, shape)
    model = Denoised(denoiser.eval(), load_checkpoint(classifier)[0]).eval()
    return model, card.model_copy(update={"denoised": denoised_entry(model, classifier, out)})


def _class_names(dataset: str | None, classes: int) -> tuple[str, ...]:
    """Return the names that the data set has; numbers where it has none without its files."""
    names = None if dataset is None else DATASETS[dataset].class_names
    return names or tuple(str(number) for number in range(classes))
