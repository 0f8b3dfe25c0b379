"""Model folders: weights in `model.safetensors`, or a network in `model.onnx`, and the card in `model.json` beside.

The JSON is written last, so a folder that has one is complete. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from safetensors.torch import save as bytes_from_tensors
from torch import nn

from smoothcert.atomic import write_atomically
from smoothcert.errors import CheckpointError, StoreError
from smoothcert.folders.filling import filled, refuse_other_network
from smoothcert.folders.model_card import MOST_CARD_BYTES, ModelCard, read_record
from smoothcert.folders.module_source import ModuleSource, NoModules
from smoothcert.folders.own.onnx_folder import folder_files, onnx_network
from smoothcert.folders.own_network import copy_module, own_network
from smoothcert.folders.quantized_entry import QuantizedEntry
from smoothcert.folders.tensors import entries_of, stored_tensors
from smoothcert.folders.weights_file import open_weights
from smoothcert.networks import model_digest, stored_part, weights_digest
from smoothcert.reading import kind_of

WEIGHTS_FILE, ONNX_FILE, CARD_FILE = "model.safetensors", "model.onnx", "model.json"
_TO_SAVE = "the model to save"


def save_checkpoint(
    model: nn.Module, card: ModelCard, folder: str | Path, modules: ModuleSource | None = None
) -> ModelCard:
    """Write a model folder, whole or not at all, and return the card with the digest filled in.

    Not a way to replace a model: a folder that already holds one is refused. Of a `Denoised` the denoiser alone is
    written; the classifier stays where `card.denoised` says.

    Args:
        model: the network, built as `card` says.
        card: its description; the digest in it is replaced by that of `model`.
        folder: where to write; made if missing.
        modules: who has the module of a classifier behind a denoiser, where it is code of the user's own.
    """
    folder = Path(folder)
    if os.path.lexists(folder / CARD_FILE):
        raise CheckpointError(f"{folder} already holds a model; choose another folder or remove it")
    card = card.model_copy(update={"digest": model_digest(model) if card.onnx else weights_digest(model)})
    text = card.model_dump_json(indent=2) + "\n"
    if len(text) > MOST_CARD_BYTES:
        raise CheckpointError(
            f"a card may have {MOST_CARD_BYTES:,} bytes, this one has {len(text):,}; shorten it"
        )
    if card.onnx is not None:
        _write(folder, folder_files(model, card, ONNX_FILE), text)
        return card
    tensors = stored_tensors(stored_part(model))
    own = None if card.code is None else copy_module(model)
    refuse_other_network(card, entries_of(tensors), _TO_SAVE, own)
    again = filled(card, tensors, _classifier(card, folder, modules), _TO_SAVE, own)
    if own is not None and weights_digest(again) != card.digest:
        raise CheckpointError(
            f"the module {card.architecture} cannot be saved: weights that decide its answers are not in its "
            "state_dict, or its load_state_dict changes them; register them as parameters or buffers"
        )
    _write(folder, {WEIGHTS_FILE: bytes_from_tensors(tensors)}, text)
    return card


def read_card(folder: str | Path) -> ModelCard:
    """Read the card of a model folder without its weights; raises `CheckpointError` if it is damaged."""
    path = Path(folder) / CARD_FILE
    has_card = kind_of(path) is not None
    if not has_card and kind_of(Path(folder) / "ensemble.json") is not None:
        raise CheckpointError(
            f"{folder} holds an ensemble, but a single model is needed here; give one of its members"
        )
    if not has_card:
        raise CheckpointError(
            f"{folder} is not a model folder: it has no {CARD_FILE} (nor ensemble.json); `smoothcert demo` "
            "and smoothcert.train make some"
        )
    return read_record(ModelCard, path)


def load_checkpoint(folder: str | Path, modules: ModuleSource | None = None) -> tuple[nn.Module, ModelCard]:
    """Read a model folder; the model is in eval mode, its weights frozen and equal to their digest.

    Args:
        folder: what `save_checkpoint` wrote.
        modules: who has the module where the network is code of the user's own; a copy of it is filled.
    """
    folder, modules = Path(folder), modules or NoModules()
    card = read_card(folder)
    if card.onnx is not None:
        original = None if card.quantized is None else partial(_original, card.quantized, folder, modules)
        return onnx_network(card, folder / ONNX_FILE, original), card
    file = open_weights(folder / WEIGHTS_FILE)
    own = own_network(card, file.entries, modules, folder)
    refuse_other_network(card, file.entries, str(file.path), own)
    model = filled(card, file.tensors(), _classifier(card, folder, modules), str(file.path), own)
    model.eval().requires_grad_(False)
    digest = weights_digest(model)
    if digest != card.digest:
        raise CheckpointError(
            f"the weights in {file.path} have digest {digest}, but {CARD_FILE} says {card.digest!r}; "
            f"one of the two files was changed: restore it"
        )
    return model, card


def _write(folder: Path, files: Mapping[str, bytes], card: str) -> None:
    """Write what a folder holds and then its card, all or nothing."""
    was_there = folder.exists()
    try:
        for name, content in files.items():
            write_atomically(folder / name, content)
        write_atomically(folder / CARD_FILE, card)
    except StoreError:
        with contextlib.suppress(OSError):
            for name in files:
                (folder / name).unlink(missing_ok=True)
            if not was_there:
                folder.rmdir()
        raise


def _original(entry: QuantizedEntry, folder: Path, modules: ModuleSource) -> nn.Module:
    """Load the float32 network that a quantised one in `folder` was made from."""
    place = folder / entry.original
    try:
        model, card = load_checkpoint(place, modules)
    except CheckpointError as error:
        raise type(error)(f"{folder} was quantised from {place}, which cannot be loaded: {error}") from error
    if card.digest != entry.original_digest:
        raise CheckpointError(
            f"{folder} was quantised from another network than the one in {place} now; restore that, or quantise again"
        )
    return model


def _classifier(
    card: ModelCard, folder: Path, modules: ModuleSource | None
) -> tuple[nn.Module, ModelCard] | None:
    """Load the classifier behind the denoiser of a card in `folder`; None for a plain network."""
    entry = card.denoised
    if entry is None:
        return None
    # Joined as text, because the folder may not be there yet.
    place = Path(os.path.normpath(Path(os.path.realpath(folder)) / entry.classifier))
    if read_card(place).denoised is not None:
        raise CheckpointError(
            f"the classifier {entry.classifier} that {folder} names is a denoiser itself; name a plain network"
        )
    return load_checkpoint(place, modules)
