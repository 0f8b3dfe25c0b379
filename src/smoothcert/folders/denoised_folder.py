"""Folders of denoisers: the entry that ties one to its classifier, and a denoiser moved before another classifier."""

from __future__ import annotations

import os
from pathlib import Path

from smoothcert.errors import InvalidArgumentError
from smoothcert.folders.checkpoint import load_checkpoint, read_card, save_checkpoint
from smoothcert.folders.model_card import DenoisedEntry, ModelCard
from smoothcert.networks import Denoised, DnCNN, denoised_of, refuse_shapes, weights_digest


def denoised_entry(model: Denoised, classifier: str | Path, folder: str | Path) -> DenoisedEntry:
    """Return what the card of a denoiser says about it and the classifier behind it.

    Not a copy of the classifier: moved elsewhere, the denoiser's folder must keep its place relative to it, as an
    ensemble's must to its members.

    Args:
        model: the two together; the denoiser is a `DnCNN`.
        classifier: folder of the classifier.
        folder: where the denoiser is to be written.
    """
    denoiser = model.denoiser
    if not isinstance(denoiser, DnCNN):
        raise InvalidArgumentError(
            f"a denoiser's folder holds a DnCNN, got {type(denoiser).__name__}; certify such a model with "
            "SmoothedClassifier, which takes any module"
        )
    path = os.path.relpath(Path(classifier).resolve(), Path(folder).resolve())
    return DenoisedEntry(
        depth=denoiser.depth,
        width=denoiser.width,
        digest=weights_digest(denoiser),
        classifier=Path(path).as_posix(),
        classifier_digest=classifier_card(classifier).digest,
    )


def classifier_card(folder: str | Path) -> ModelCard:
    """Read the card of a classifier that a denoiser may stand before; refuse what is no plain network."""
    card = read_card(folder)
    if card.denoised is not None:
        raise InvalidArgumentError(f"{folder} has a denoiser already; give the classifier behind it")
    if card.code is not None:
        raise InvalidArgumentError(
            f"{folder} holds a network of the user's own code; denoisers are for classifiers of this package"
        )
    return card


def denoise(denoised: str | Path, classifier: str | Path, folder: str | Path) -> ModelCard:
    """Put a trained denoiser before another classifier, and write the two as a model folder; returns its card.

    Not a training: a denoiser that was trained through one classifier (CE, stability) may suit another less.

    Args:
        denoised: folder of a denoiser with its classifier.
        classifier: folder of the other classifier; images of the same shape.
        folder: where to write.
    """
    loaded, card = load_checkpoint(denoised)
    old = denoised_of(loaded)
    if old is None:
        raise InvalidArgumentError(f"{denoised} holds no denoiser; train one with --classifier")
    network, other = load_checkpoint(classifier)[0], classifier_card(classifier)
    refuse_shapes(old.denoiser, other.input_shape, card.input_shape)
    model = Denoised(old.denoiser, network)
    update = {
        "denoised": denoised_entry(model, classifier, folder),
        "num_classes": other.num_classes,
        "class_names": other.class_names,
        "mean": other.mean,
        "std": other.std,
        "metrics": {},  # they were of the first classifier
    }
    return save_checkpoint(model, card.model_copy(update=update), folder)
