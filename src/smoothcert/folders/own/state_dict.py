"""Weights of the user's own: read from files as tensors and nothing else, and put into a module."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.errors import CheckpointError
from smoothcert.folders.own.same_numbers import same_numbers, value_fault
from smoothcert.folders.weights_file import open_weights
from smoothcert.on_demand import nn, torch
from smoothcert.reading import read_start
from smoothcert.visible import brief

_TORCH_STARTS = (b"PK\x03\x04", b"\x80")  # an archive, and the pickles of old
_PREFIX = "module."  # of what was trained in parallel
_NAMED = 3  # keys in a message


def read_state(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a weights file by name; nothing in it is run.

    Of a table with an entry `state_dict` that entry is taken, and the prefix "module." of all names is left out.

    Args:
        path: a safetensors file, or what `torch.save(model.state_dict(), path)` wrote.
    """
    start = read_start(path, CheckpointError, 4)
    state = _torch_file(path) if start.startswith(_TORCH_STARTS) else open_weights(path).tensors()
    if isinstance(state, Mapping) and isinstance(state.get("state_dict"), Mapping):
        state = state["state_dict"]
    if not isinstance(state, Mapping) or not state:
        raise CheckpointError(f"{path} holds {_kind(state)}, not weights; save model.state_dict()")
    for key, value in state.items():
        if not isinstance(key, str) or not isinstance(value, torch.Tensor):
            raise CheckpointError(
                f"{path} holds {_kind(value)} under {brief(key, 60)}, where weights have a tensor; save "
                "model.state_dict(), alone or as the entry state_dict"
            )
    if all(key.startswith(_PREFIX) for key in state):
        return {key.removeprefix(_PREFIX): value for key, value in state.items()}
    return dict(state)


def fill(module: nn.Module, state: Mapping[str, torch.Tensor], source: str) -> None:
    """Put weights into a module, all or none; `CheckpointError` names the keys that do not fit.

    The module then holds the very numbers of the weights: one that ties, changes or refuses what it is given is an
    error too, after which it may be used no more.

    Args:
        module: to fill; changed in place.
        state: tensors by name.
        source: names the weights in messages.
    """
    wanted = module.state_dict()
    _refuse_misfit(wanted, state, f"the weights in {source} do not fit the {type(module).__name__}")
    try:
        # Copies: code of the module may change what it is given in place.
        module.load_state_dict({key: value.clone() for key, value in state.items()}, strict=True)
    except Exception as error:  # code of the user's own may run
        reason = " ".join(str(error).split())[:120]
        raise CheckpointError(
            f"the {type(module).__name__} does not take the weights of {source} ({type(error).__name__}: {reason}); "
            "give one whose load_state_dict takes what its state_dict gave"
        ) from error
    held = module.state_dict()
    changed = [
        brief(key, 80) for key, value in state.items() if not _is_held(held.get(key), value, wanted[key])
    ]
    if changed:
        raise CheckpointError(
            f"the {type(module).__name__} holds other numbers than {source} for {_few(changed)}: it shares them with "
            "another key of other numbers, or changes what it loads; build the network that they were saved from"
        )


def _refuse_misfit(wanted: Mapping[str, Any], state: Mapping[str, torch.Tensor], text: str) -> None:
    """Refuse keys, shapes and types that are not the module's; the text begins the message."""
    pairs = {  # what is no tensor yet may become any plain one
        key: (state[key], value if isinstance(value, torch.Tensor) else state[key])
        for key, value in wanted.items()
        if key in state
    }
    shapes = [
        f"{brief(key, 80)} is {tuple(given.shape)}, not {tuple(own.shape)}"
        for key, (given, own) in pairs.items()
        if given.shape != own.shape
    ]
    values = [
        f"{brief(key, 80)} {fault}"
        for key, (given, own) in pairs.items()
        if (fault := value_fault(given, own)) is not None
    ]
    told = {
        "missing": [brief(key, 80) for key in wanted if key not in state],
        "unknown": [brief(key, 80) for key in state if key not in wanted],
        "of another shape:": shapes,
        "of other values:": values,
    }
    faults = [f"{what} {_few(found)}" for what, found in told.items() if found]
    if faults:
        raise CheckpointError(f"{text}: {'; '.join(faults)}; build the network that they were saved from")


def _is_held(held: Any, given: torch.Tensor, wanted: Any) -> bool:
    """Say whether a module holds the numbers that it was given, in the type that it had before."""
    kept = isinstance(held, torch.Tensor) and held.dtype == getattr(wanted, "dtype", held.dtype)
    return kept and same_numbers(held.cpu(), given.cpu())


def _torch_file(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{path} holds more than tensors, or is damaged; what would run code when it is read is never loaded: "
            "save model.state_dict() alone"
        ) from error
    except Exception as error:  # torch raises many kinds at files that are cut short
        reason = " ".join(str(error).split())[:120]
        raise CheckpointError(f"{path} is cut short or damaged ({reason}); save the weights again") from error


def _few(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - _NAMED:,} more" if len(parts) > _NAMED else ""
    return f"{', '.join(parts[:_NAMED])}{more}"


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"
