"""The tensors of a module as they are written: those of its `state_dict`, refused by name where a file has no place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from smoothcert.errors import CheckpointError
from smoothcert.folders.weights_file import TYPES, Entry


def stored_tensors(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return a copy of every tensor of a module's `state_dict`, on the CPU.

    Tensors that share memory are written once under each of their names, which fills them all alike when they are read.
    """
    return {
        name: value.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, value in checked_state(module).items()
    }


def checked_state(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return a module's `state_dict`; refuse by name what a weights file does not hold."""
    state: dict[str, Any] = module.state_dict()
    for name, value in state.items():
        if not isinstance(value, torch.Tensor):
            raise CheckpointError(
                f"{name!r} of the model is a {type(value).__name__}, and weights files hold tensors alone; keep it out "
                "of the state_dict"
            )
        if is_lazy(value):
            raise CheckpointError(
                f"{name!r} of the model has no shape yet; ask the model about one batch of images first"
            )
        if value.layout != torch.strided or value.dtype not in TYPES.values():
            raise CheckpointError(
                f"{name!r} of the model is a tensor of {value.dtype}, {value.layout}, which weights files do not hold; "
                "use a dense one of floats or integers"
            )
    return state


def entries_of(state: Mapping[str, torch.Tensor]) -> dict[str, Entry]:
    """Return type and shape of every tensor."""
    return {name: (value.dtype, tuple(value.shape)) for name, value in state.items()}
