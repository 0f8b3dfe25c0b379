"""Weights files (safetensors): what the header says is checked before anything of that size is read or built.

Nothing is ever unpickled. The format's own library reads the tensors, and checks them again.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes

from smoothcert.errors import CheckpointError
from smoothcert.reading import parse_json, read_bytes, read_start
from smoothcert.visible import brief

_MOST_HEADER = 16 * 2**20  # bytes; networks of a thousand layers need one in a hundred of it
_MOST_AXES = 16
_LENGTH = struct.Struct("<Q")
TYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
"""Types of tensors that a file may hold, by the format's own names."""

Entry = tuple[torch.dtype, tuple[int, ...]]
"""Type and shape of a tensor."""


@dataclass(frozen=True)
class WeightsFile:
    """A weights file of which the header has been read.

    Not its tensors: whoever knows which ones belong there compares `entries` first, then calls `tensors`.

    Args:
        path: the file.
        fix: what to do about a damaged one, for messages.
        entries: type and shape of every tensor, by name.
        metadata: texts that whoever wrote the file put there.
        size: bytes that the file must have, by its header.
    """

    path: Path
    fix: str
    entries: dict[str, Entry]
    metadata: dict[str, str]
    size: int

    def tensors(self) -> dict[str, torch.Tensor]:
        """Read all tensors, as many bytes as the header says."""
        content = read_bytes(self.path, CheckpointError, most=self.size)
        try:
            return tensors_from_bytes(content)
        except SafetensorError as error:
            raise _damage(self.path, str(error), self.fix) from error


def open_weights(path: Path, *, fix: str = "restore the file") -> WeightsFile:
    """Read the header of a weights file; `CheckpointError` says what is wrong with it.

    Args:
        path: the file.
        fix: what to do about a damaged one, for messages.
    """
    start = read_start(path, CheckpointError, _LENGTH.size)
    length = _LENGTH.unpack(start)[0] if len(start) == _LENGTH.size else 0
    if not 2 <= length <= _MOST_HEADER:
        raise _damage(path, f"its header of {length} bytes is none", fix)
    raw = read_start(path, CheckpointError, _LENGTH.size + length)[_LENGTH.size :]
    try:
        header = parse_json(raw, "its header", CheckpointError)
        if not isinstance(header, dict):
            raise CheckpointError("its header is no table")
        metadata = _metadata(header.pop("__metadata__", {}))
        spans = {name: _entry(name, entry) for name, entry in header.items()}
    except CheckpointError as error:
        raise _damage(path, str(error), fix) from error
    end = max((end for _, end in spans.values()), default=0)
    entries = {name: entry for name, (entry, _) in spans.items()}
    return WeightsFile(path, fix, entries, metadata, _LENGTH.size + length + end)


def _metadata(header: Any) -> dict[str, str]:
    if not isinstance(header, dict) or not all(isinstance(value, str) for value in header.values()):
        raise CheckpointError("its metadata are no table of texts")
    return header


def _entry(name: str, entry: Any) -> tuple[Entry, int]:
    """Return what the header says about one tensor, and where its bytes end."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise CheckpointError(f"{brief(name)} is no entry of a tensor")
    kind, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise CheckpointError(f"{brief(name)} has the unknown type {brief(kind)}")
    if not _whole_numbers(shape) or len(shape) > _MOST_AXES or not _whole_numbers(place) or len(place) != 2:
        raise CheckpointError(f"{brief(name)} has the shape {brief(shape)} at {brief(place)}")
    if place[1] - place[0] != math.prod(shape) * TYPES[kind].itemsize:
        raise CheckpointError(f"{brief(name)} has a shape that its bytes do not fill, {brief(shape)}")
    return (TYPES[kind], tuple(shape)), place[1]


def _whole_numbers(values: Any) -> bool:
    """Say whether something is a list of integers that fit into 63 bits, none negative."""
    return isinstance(values, list) and all(type(one) is int and 0 <= one < 2**63 for one in values)


def _damage(path: Path, reason: str, fix: str) -> CheckpointError:
    return CheckpointError(f"{path} is cut short or damaged ({' '.join(reason.split())[:300]}); {fix}")
