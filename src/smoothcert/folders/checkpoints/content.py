"""The weights in a checkpoint, apart from all else that it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from smoothcert.arguments import is_number, is_whole
from smoothcert.errors import CheckpointError
from smoothcert.folders.checkpoints.family import FAMILIES
from smoothcert.folders.checkpoints.safe_reading import read_tensors_file
from smoothcert.visible import brief, visible

_ARCHITECTURE = "arch"
_WHOLE = "save model.state_dict() of the network as it was trained"


@dataclass(frozen=True)
class Content:
    """What a checkpoint says.

    Args:
        tensors: the weights by name, as the file names them.
        holder: key under which they lie; None where the file is nothing but weights.
        arch: what the file calls its network; None where it does not.
        dropped: what else it holds, in words.
        epoch: after which it was written, where the file says so.
    """

    tensors: dict[str, torch.Tensor]
    holder: str | None
    arch: str | None
    dropped: tuple[str, ...]
    epoch: int | None


def read_content(path: Path) -> Content:
    """Read a checkpoint; refuse one without weights, or with something else among them.

    Args:
        path: the file.
    """
    whole = read_tensors_file(path)
    if not isinstance(whole, Mapping) or not whole or not all(isinstance(name, str) for name in whole):
        raise CheckpointError(
            f"{path} holds no table of weights by name but {type(whole).__name__}; save model.state_dict() instead"
        )
    if all(isinstance(value, torch.Tensor) for value in whole.values()):
        return Content(_weights(path, whole), None, None, (), None)
    holders = sorted({FAMILIES[name].holder for name in FAMILIES} & set(whole))
    if not holders:
        known = " or ".join(sorted({FAMILIES[name].holder for name in FAMILIES}))
        raise CheckpointError(
            f"{path} has no {known} among {brief(sorted(map(str, whole)))}; save the weights under one of them"
        )
    holder, arch, epoch = holders[0], whole.get(_ARCHITECTURE), whole.get("epoch")
    return Content(
        _weights(path, whole[holder]),
        holder,
        visible(arch)[:100] if isinstance(arch, str) else None,
        tuple(_told(name, value) for name, value in whole.items() if name not in (holder, _ARCHITECTURE)),
        epoch if is_whole(epoch, 0, 10**6) else None,
    )


def _weights(path: Path, table: Any) -> dict[str, torch.Tensor]:
    """Return weights by name; refuse a table of anything else."""
    if not isinstance(table, Mapping) or not table:
        raise CheckpointError(
            f"the weights in {path} are no table but {type(table).__name__}; save model.state_dict()"
        )
    for name, value in table.items():
        plain = (
            isinstance(name, str)
            and isinstance(value, torch.Tensor)
            and value.layout is torch.strided
            and value.device.type == "cpu"
            and not value.is_quantized
        )
        if not plain:
            raise CheckpointError(
                f"{path} has {type(value).__name__} under {brief(name)} where a plain tensor belongs; {_WHOLE}"
            )
    # Views of few bytes can claim any size; what is copied from them would fill the memory.
    if sum(value.numel() * value.element_size() for value in table.values()) > path.stat().st_size:
        raise CheckpointError(f"{path} claims more numbers than it has bytes for; {_WHOLE}")
    return dict(table)


def _told(name: str, value: Any) -> str:
    """Say what is dropped: a number as it is, anything larger by its name."""
    name = visible(name)[:60]
    return f"{name} {visible(str(value))}" if is_number(value) and len(str(value)) < 20 else name
