"""A function, session or estimator, called as it is."""

from __future__ import annotations

import logging
from typing import ClassVar

import torch
from torch import nn
from typing_extensions import override

from smoothcert.engines.engine import Engine
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.engines.workload import Model, Workload
from smoothcert.networks import answer_of, as_logits, held_modules, same_places

_log = logging.getLogger("smoothcert")


class CallableEngine(Engine):
    """Whatever is no torch module: `model(x)`, nothing folded, exported or compiled.

    Not for torch modules, which other engines run faster. What the function runs inside is its own affair, so a
    certificate says `callable`, and not `torch`, for a function of NumPy or a session of ONNX Runtime.
    """

    otherwise: ClassVar[str | None] = None
    takes_parts: ClassVar[bool] = False

    @classmethod
    def setup_seconds(cls, workload: Workload) -> float | None:
        """Return 0 for what is no torch module: no other engine runs it."""
        return None if isinstance(workload.model, nn.Module) else 0.0

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        if isinstance(model, nn.Module):
            raise EngineUnavailableError("it is a torch module, which engine eager runs as it is")
        super().__init__(model, num_classes, example)
        self.as_is, self.shareable = True, False
        self._places: dict[int, str] = {}
        inside = [type(part).__name__ for part in held_modules(model)]
        if inside:
            _log.warning(
                "the model is a function around a torch module (%s) and is run as it is; the module itself, if it "
                "answers the same, runs on faster engines",
                ", ".join(inside),
            )

    @torch.inference_mode()
    @override
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        # Said outright, because the caller's own autocast would hold in its thread and not in the workers.
        with same_places(self._places), torch.autocast(self.device.type, enabled=False):
            return as_logits(answer_of(self.model, batch), len(batch))
