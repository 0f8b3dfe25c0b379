"""Weights of a model folder put into a network that the user builds."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from torch import nn

from smoothcert.errors import CheckpointError
from smoothcert.folders.checkpoint import WEIGHTS_FILE, read_card
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.own.state_dict import fill
from smoothcert.folders.weights_file import open_weights
from smoothcert.networks import Normalize, weights_digest

_NETWORK, _NORMALIZE = "network.", "normalize."


def fill_from_folder(module: nn.Module, folder: Path) -> tuple[nn.Module, ModelCard]:
    """Return a module with a folder's weights, which must be those of the folder's card, and that card.

    Weights of this package's own networks have a normalisation in front: the module then gets it too, if it has none.

    Args:
        module: changed in place.
        folder: of a model.
    """
    card = read_card(folder)
    file = open_weights(folder / WEIGHTS_FILE)
    state = file.tensors()
    model = module
    if all(key.startswith((_NETWORK, _NORMALIZE)) for key in state) and set(state) != set(module.state_dict()):
        normalize = Normalize(card.input_shape, card.mean, card.std)
        model = nn.Sequential(OrderedDict(normalize=normalize, network=module)).eval()
    fill(model, state, str(file.path))
    model.eval().requires_grad_(False)
    if weights_digest(model) != card.digest:
        raise CheckpointError(f"the weights in {file.path} are not those of its card (other digest); restore them")
    return model, card
