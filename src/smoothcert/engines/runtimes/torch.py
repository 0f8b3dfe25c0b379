"""Eager torch, with batch norm folded into convolutions and channels last."""

from __future__ import annotations

import contextlib
import copy
import warnings
from typing import Any, ClassVar

import torch
from torch import nn
from typing_extensions import override

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.turns import alone
from smoothcert.engines.unavailable import EngineUnavailableError, refuse_not_understood
from smoothcert.engines.workload import Model, Workload, device_of
from smoothcert.networks import Composite, answer_of, as_logits, holds_onnx, is_understood, same_places


class TorchEngine(Engine):
    """A torch module, without gradient bookkeeping, on its own device.

    Not for other callables, which may run anything inside. The module is copied, its batch norms are folded into the
    convolutions before them and its images are laid out channels last, if it is sure to be understood and its answers
    stay the same; else it is called as it is.
    """

    otherwise: ClassVar[str | None] = "eager"
    _autocast: ClassVar[bool] = False
    _folds: ClassVar[bool] = True

    @classmethod
    @override
    def setup_seconds(cls, workload: Workload) -> float | None:
        is_torch = isinstance(workload.model, nn.Module) and not holds_onnx(workload.model)
        return 0.0 if is_torch else None

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        if not isinstance(model, nn.Module):
            raise EngineUnavailableError(
                f"a {type(model).__name__} is no torch module, which is all that it runs"
            )
        super().__init__(model, num_classes, example, device_of(model))
        self._places: dict[int, str] = {}
        self._layout = torch.contiguous_format
        self._run: Any = model
        if self._folds:
            # No harm where it fails: the fold is only for speed.
            with contextlib.suppress(EngineUnavailableError):
                self._run = folded(model, example)
                self._layout = torch.channels_last if example.dim() == 3 else torch.contiguous_format
        self.as_is = self._run is model
        self.shareable = not self.as_is or is_understood(model)

    @torch.inference_mode()
    @override
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self._forward(batch, autocast=self._autocast)

    @torch.inference_mode()
    @override
    def exact_forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self._forward(batch, autocast=False)

    def _forward(self, batch: torch.Tensor, *, autocast: bool) -> torch.Tensor:
        moved = batch.to(self.device, non_blocking=True)
        # Said outright, because the caller's own autocast would hold in its thread and not in the workers.
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=autocast):
            laid_out = moved.contiguous(memory_format=self._layout)
            if self.as_is:
                with same_places(self._places):
                    return as_logits(answer_of(self._run, laid_out), len(moved))
            answer = self._run(laid_out)  # of known modules alone, whose answers stay what they are
            return answer if isinstance(answer, torch.Tensor) else as_logits(answer, len(moved))


def folded(model: nn.Module, example: torch.Tensor) -> nn.Module:
    """Return a copy with batch norms folded and weights channels last, after comparing its answers.

    Of an ensemble, whose rule cannot be traced, each member, trunk or head is folded by itself. Raises
    `EngineUnavailableError` for a module that cannot be traced, or whose answers change.
    """
    refuse_not_understood(model)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fused = _fused(model)
    except Exception as error:  # tracing runs the model's own code, which may raise anything
        raise EngineUnavailableError(f"it cannot be traced ({type(error).__name__})") from error
    if example.dim() == 3:
        fused = fused.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    device = device_of(model)
    refuse_other_answers(lambda x: fused(x.to(device)), lambda x: model(x.to(device)), example)
    return fused


def _fused(model: nn.Module) -> nn.Module:
    """Return a copy with batch norms folded, part by part where a model says that it has parts."""
    from torch.fx.experimental.optimization import fuse

    if not isinstance(model, Composite) or not model.folds_by_part:
        with alone():
            return fuse(model)
    whole = copy.deepcopy(model)
    for name, part in whole.named_children():
        parts = nn.ModuleList(map(_fused, part)) if isinstance(part, nn.ModuleList) else _fused(part)
        setattr(whole, name, parts)
    return whole
