"""Weights of a model folder put into a network that the user builds."""

from __future__ import annotations

from pathlib import Path

from smoothcert.errors import CheckpointError
from smoothcert.folders.checkpoint import WEIGHTS_FILE, read_card
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.own.state_dict import fill
from smoothcert.folders.own_network import warn_other_code
from smoothcert.folders.weights_file import open_weights
from smoothcert.networks import weights_digest, with_normalisation
from smoothcert.on_demand import nn


def fill_from_folder(module: nn.Module, folder: Path) -> tuple[nn.Module, ModelCard]:
    """Return a module with a folder's weights, which must be those of the folder's card, and that card.

    Where the folder's network normalises first, the module gets the same layer in front.

    Args:
        module: changed in place.
        folder: of a network, not of an ensemble.
    """
    card = read_card(folder)
    if card.onnx is not None or card.denoised is not None:
        raise CheckpointError(f"{folder} holds no weights of a single network; give the folder of one")
    warn_other_code(card.code, module, folder)
    file = open_weights(folder / WEIGHTS_FILE)
    model = with_normalisation(module, card.input_shape, card.mean, card.std) if card.mean else module
    fill(model, file.tensors(), str(file.path))
    model.eval().requires_grad_(False)
    if weights_digest(model) != card.digest:
        raise CheckpointError(
            f"the weights in {file.path} are not those of its card (other digest); restore them"
        )
    return model, card
