"""What an engine is wanted for, as far as a choice may depend on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import nn

from smoothcert.engines.turns import turn
from smoothcert.networks import forward_flops, whole_parts

Model = Callable[[torch.Tensor], Any]


@dataclass(frozen=True)
class Workload:
    """A model and the votes planned with it.

    Not a measurement: no clock is read, so that the same job is always done by the same engine.

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


def device_of(model: Model) -> torch.device:
    """Return where a module's weights are; the CPU for anything without weights."""
    tensors = [*model.parameters(), *model.buffers()] if isinstance(model, nn.Module) else []
    return tensors[0].device if tensors else torch.device("cpu")
