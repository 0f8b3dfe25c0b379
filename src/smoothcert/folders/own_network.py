"""The user's own module that the weights of a folder belong to: chosen, copied, and put behind its first layer."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

from torch import nn

from smoothcert.errors import CheckpointError, SmoothcertError
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.module_source import ModuleSource
from smoothcert.folders.tensors import checked_state, entries_of
from smoothcert.folders.weights_file import Entry
from smoothcert.networks import with_normalisation


def own_network(
    card: ModelCard, entries: Mapping[str, Entry], modules: ModuleSource, folder: Path
) -> nn.Module | None:
    """Return a copy of the first candidate that weights fit, or of the first if they fit none; None without `code`.

    Not filled yet. Whether the weights fit is for `refuse_other_network` to say, with the names that do not.

    Args:
        card: of the folder.
        entries: type and shape of every tensor of its weights.
        modules: who has the modules.
        folder: for messages.
    """
    if card.code is None:
        return None
    candidates = [_with_first_layer(card, one, folder) for one in modules.candidates(card, folder)]
    fitting = [one for one in candidates if entries_of(checked_state(one)) == entries]
    return copy_module(fitting[0] if fitting else candidates[0])


def copy_module(module: nn.Module) -> nn.Module:
    """Return a copy of a module of the user's own, on the CPU; refuse one that cannot be copied."""
    try:
        return copy.deepcopy(module).cpu()
    except Exception as error:  # whatever the user's own classes raise
        raise CheckpointError(
            f"the module {type(module).__name__} cannot be copied ({type(error).__name__}: {error}); weights are "
            "filled into a copy, so give a module that copy.deepcopy takes"
        ) from error


def _with_first_layer(card: ModelCard, module: nn.Module, folder: Path) -> nn.Module:
    if not card.mean:
        return module
    try:
        return with_normalisation(module, card.input_shape, card.mean, card.std)
    except SmoothcertError as error:
        raise CheckpointError(
            f"the card of {folder} has no first layer that can be built: {error}"
        ) from error
