"""What an engine is wanted for, as far as a choice may depend on it: where, for how much, and by how many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import nn

from smoothcert.engines.turns import turn
from smoothcert.networks import forward_flops, holds_onnx, whole_parts

Model = Callable[[torch.Tensor], Any]

_BATCH_VALUES = 2**17  # float32 values per batch: larger ones were slower on every network measured
_UNIT, _MOST_ROWS = 64, 1024
_LEAST_SPEED = 5e9  # floating-point operations per second of a core: networks as small as LeNet reach it
_OF_A_FILE = 1e8  # operations of a vote


@dataclass(frozen=True)
class Workload:
    """A model and the votes planned with it.

    Not a measurement: no clock is read.

    Args:
        model: any callable from batch to logits.
        example: one image of the shape that will be asked about.
        votes: planned in all.
    """

    model: Model
    example: torch.Tensor
    votes: int

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return device_of(self.model)

    @cached_property
    def operations(self) -> float:
        """Floating-point operations of all votes; 0 where they cannot be counted.

        What exits early is charged for all its parts, because what it skips depends on the image.
        """
        if not isinstance(self.model, nn.Module):
            return 0.0
        try:
            with turn():
                cost = sum(forward_flops(part, seen) for part, seen in whole_parts(self.model, self.example))
        except Exception:  # the model's own code; the probe will name the trouble with the image
            return 0.0
        return float(self.votes * cost)

    @property
    def most_seconds(self) -> float:
        """Seconds of one core that all votes take at most, about; 0 where nothing tells.

        Of an ONNX file, whose operations are not counted, as much as of a network of a hundred layers.
        """
        uncounted = self.votes * _OF_A_FILE if holds_onnx(self.model) else 0.0
        return (self.operations or uncounted) / _LEAST_SPEED


def device_of(model: Model) -> torch.device:
    """Return where a module's weights are; the CPU for anything without weights."""
    tensors = [*model.parameters(), *model.buffers()] if isinstance(model, nn.Module) else []
    return tensors[0].device if tensors else torch.device("cpu")


def rows_in_cache(image: torch.Tensor) -> int:
    """Return the rows of a batch that suits a core's cache, a multiple of 64.

    Args:
        image: one input, or the features that take its place.
    """
    units = _BATCH_VALUES // max(image.numel() * _UNIT, 1)
    return _UNIT * min(max(units, 1), _MOST_ROWS // _UNIT)
