"""Model folders: weights in `model.safetensors`, the card in `model.json` beside them.

The JSON is written last, so a folder that has one is complete. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes
from safetensors.torch import save as bytes_from_tensors
from torch import nn

from smoothcert.atomic import write_atomically
from smoothcert.errors import CheckpointError, SmoothcertError, StoreError
from smoothcert.models.card import ModelCard, read_record
from smoothcert.models.denoised import Denoised, refuse_shapes
from smoothcert.models.digest import weights_digest
from smoothcert.models.dncnn import DnCNN

WEIGHTS_FILE, CARD_FILE = "model.safetensors", "model.json"


def save_checkpoint(model: nn.Module, card: ModelCard, folder: str | Path) -> ModelCard:
    """Write a model folder, whole or not at all, and return the card with the digest filled in.

    Not a way to replace a model: a folder that already holds one is refused. Of a `Denoised` the denoiser alone is
    written; the classifier stays where `card.denoised` says.

    Args:
        model: the network, built as `card` says.
        card: its description; the digest in it is replaced by that of `model`.
        folder: where to write; made if missing.
    """
    folder = Path(folder)
    if (folder / CARD_FILE).exists():
        raise CheckpointError(f"{folder} already holds a model; choose another folder or remove it")
    card = card.model_copy(update={"digest": weights_digest(model)})
    stored = _stored(model)
    tensors = {name: value.detach().cpu().contiguous() for name, value in stored.state_dict().items()}
    _fill(card, tensors, "the model to save", folder)
    was_there = folder.exists()
    try:
        write_atomically(folder / WEIGHTS_FILE, bytes_from_tensors(tensors))
        write_atomically(folder / CARD_FILE, card.model_dump_json(indent=2) + "\n")
    except StoreError:
        with contextlib.suppress(OSError):
            (folder / WEIGHTS_FILE).unlink(missing_ok=True)
            if not was_there:
                folder.rmdir()
        raise
    return card


def read_card(folder: str | Path) -> ModelCard:
    """Read the card of a model folder without its weights; raises `CheckpointError` if it is damaged."""
    path = Path(folder) / CARD_FILE
    if (Path(folder) / "ensemble.json").exists() and not path.exists():
        raise CheckpointError(
            f"{folder} holds an ensemble, but a single model is needed here; give one of its members"
        )
    if not path.exists():
        raise CheckpointError(
            f"{folder} is not a model folder: it has no {CARD_FILE} (nor ensemble.json); `smoothcert demo` "
            "and smoothcert.train make some"
        )
    return read_record(ModelCard, path)


def load_checkpoint(folder: str | Path) -> tuple[nn.Module, ModelCard]:
    """Read a model folder; the model is in eval mode, its weights frozen and equal to their digest.

    Args:
        folder: what `save_checkpoint` wrote.
    """
    folder = Path(folder)
    card = read_card(folder)
    path = folder / WEIGHTS_FILE
    try:
        tensors = tensors_from_bytes(path.read_bytes())
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}; restore the file") from error
    except SafetensorError as error:
        raise CheckpointError(f"{path} is cut short or damaged ({error}); restore the file") from error
    model = _fill(card, tensors, str(path), folder).eval().requires_grad_(False)
    found = weights_digest(model)
    if found != card.digest:
        raise CheckpointError(
            f"the weights in {path} have digest {found}, but {CARD_FILE} says {card.digest!r}; "
            f"one of the two files was changed: restore it"
        )
    return model, card


def _stored(model: nn.Module) -> nn.Module:
    """Return the part of a model whose weights its own folder holds."""
    return model.denoiser if isinstance(model, Denoised) else model


def _built(card: ModelCard, folder: Path) -> nn.Module:
    """Build the model of a card that lies in `folder`, with random weights for what the folder itself holds."""
    entry = card.denoised
    if entry is None:
        return card.build()
    # Joined as text, because the folder may not be there yet.
    classifier, found = load_checkpoint(os.path.normpath(folder.resolve() / entry.classifier))
    if found.digest != entry.classifier_digest:
        raise CheckpointError(
            f"the classifier {entry.classifier} has changed: digest {found.digest}, expected "
            f"{entry.classifier_digest}; restore it or train the denoiser again"
        )
    denoiser = DnCNN(card.input_shape[0], entry.depth, entry.width)
    refuse_shapes(denoiser, found.input_shape, card.input_shape)
    return Denoised(denoiser, classifier)


def _fill(card: ModelCard, tensors: dict[str, torch.Tensor], source: str, folder: Path) -> nn.Module:
    """Build the card's model with the given weights; refuse weights of another network."""
    try:
        with torch.random.fork_rng(devices=[]):  # the weights drawn here are thrown away
            model = _built(card, folder)
    except SmoothcertError as error:
        raise CheckpointError(f"cannot build the network that the card of {source} names: {error}") from error
    named = {
        name: value.clone()
        for name, value in _stored(model).state_dict().items()
        if name.endswith(_NORMALISATION)
    }
    try:
        _stored(model).load_state_dict(tensors, strict=True)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"{source} does not fit architecture {card.architecture!r}: {reason}"
        ) from error
    if any(not torch.equal(value, tensors[name]) for name, value in named.items()):
        raise CheckpointError(f"{source} normalises by other numbers than mean and std in the card")
    return model


_NORMALISATION = ("normalize.mean", "normalize.std")
