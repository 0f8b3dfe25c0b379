"""Eager torch."""

from __future__ import annotations

from typing import ClassVar

import torch

from smoothcert.engines.engine import ENGINES, Engine


@ENGINES.register("torch")
class TorchEngine(Engine):
    """The model called as it is, without gradient bookkeeping; works for any callable."""

    engine_name: ClassVar[str] = "torch"

    @torch.inference_mode()
    def forward(self, batch: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return torch.as_tensor(self.model(batch))
