"""The user's own module that the weights of a folder belong to: chosen, copied, and put behind its first layer."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import nn

from smoothcert.errors import CheckpointError, SmoothcertError
from smoothcert.folders.code_entry import CodeEntry
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.module_source import ModuleSource
from smoothcert.folders.tensors import checked_state, entries_of
from smoothcert.folders.weights_file import Entry
from smoothcert.networks import kept_fingerprint, with_normalisation

_log = logging.getLogger("smoothcert")


def own_network(
    card: ModelCard, entries: Mapping[str, Entry], modules: ModuleSource, folder: Path
) -> nn.Module | None:
    """Return a copy of the candidate that weights fit and were kept with, or of the first if they fit none.

    Not filled yet, and None without `code`. Whether the weights fit is for `refuse_other_network` to say, with the
    names that do not; that the code is another one is said in a warning, and refused where the choice were a guess.

    Args:
        card: of the folder.
        entries: type and shape of every tensor of its weights.
        modules: who has the modules.
        folder: for messages.
    """
    if card.code is None:
        return None
    bare = modules.candidates(card, folder)
    candidates = [(one, _with_first_layer(card, one, folder)) for one in bare]
    fitting = [pair for pair in candidates if entries_of(checked_state(pair[1])) == entries]
    return copy_module(_kept_with(card.code, fitting, folder) if fitting else candidates[0][1])


def _kept_with(code: CodeEntry, fitting: Sequence[tuple[nn.Module, nn.Module]], folder: Path) -> nn.Module:
    """Return the network whose module has the fingerprint of the card; modules and networks come in pairs."""
    by_code: dict[str, nn.Module] = {}
    for module, network in fitting:
        by_code.setdefault(kept_fingerprint(module), network)
    if code.fingerprint in by_code:
        return by_code[code.fingerprint]
    if len(by_code) > 1:
        raise CheckpointError(
            f"the weights in {folder} fit {len(by_code)} of the modules given, which are different code, and none is "
            f"the {code.module} that they were kept with; give the right one alone"
        )
    _warn(code, folder)
    return next(iter(by_code.values()))


def warn_other_code(code: CodeEntry | None, module: nn.Module, folder: Path) -> None:
    """Say in one line if a module is not the code that the weights of a folder were kept with.

    Args:
        code: of the folder's card; None where it names none.
        module: without what was put before it.
        folder: for the line.
    """
    if code is not None and code.fingerprint != kept_fingerprint(module):
        _warn(code, folder)


def _warn(code: CodeEntry, folder: Path) -> None:
    if code.fingerprint is not None:  # a card from before there were any
        _log.warning(
            "%s: the code of %s is not the one that the weights were kept with (or Python, a package or a setting "
            "has changed since)",
            folder,
            code.class_name,
        )


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
