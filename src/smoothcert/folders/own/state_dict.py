"""Weights of the user's own: read from files as tensors and nothing else, and put into a module."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.errors import CheckpointError
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

    Args:
        module: to fill; changed in place.
        state: tensors by name.
        source: names the weights in messages.
    """
    wanted = module.state_dict()
    missing = [key for key in wanted if key not in state]
    unknown = [key for key in state if key not in wanted]
    other = [
        f"{key} is {tuple(state[key].shape)}, not {tuple(value.shape)}"
        for key, value in wanted.items()
        if key in state and isinstance(value, torch.Tensor) and state[key].shape != value.shape
    ]
    faults = [
        f"{what} {_few(keys)}" for what, keys in (("missing", missing), ("unknown", unknown)) if keys
    ] + ([f"of another shape: {_few(other)}"] if other else [])
    if faults:
        raise CheckpointError(
            f"the weights in {source} do not fit the {type(module).__name__}: {'; '.join(faults)}; build the network "
            "that they were saved from"
        )
    module.load_state_dict(dict(state), strict=True)


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


def _few(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else ""
    return f"{', '.join(brief(key, 80) for key in keys[:_NAMED])}{more}"


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"
