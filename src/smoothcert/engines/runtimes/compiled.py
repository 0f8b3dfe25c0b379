"""torch.compile with frozen weights."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import torch
from torch import nn
from typing_extensions import override

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.turns import alone
from smoothcert.engines.unavailable import EngineUnavailableError, refuse_not_understood
from smoothcert.engines.workload import Model, device_of
from smoothcert.networks import MIN_ROWS, as_logits


class CompiledEngine(Engine):
    """A module compiled by torch for any number of rows, weights frozen into the code where that hides no NaN.

    Needs a C++ compiler on the CPU. Compiling takes a minute or more, and on no network measured was it faster than
    torch and ONNX Runtime both, so "auto" never chooses it. Frozen weights
    are much faster, but let oneDNN fuse convolutions with activations that turn NaN into 0 (torch 2.13): then the
    weights stay outside.
    """

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        super().__init__(model, num_classes, example, device_of(model))
        if not isinstance(model, nn.Module):
            raise EngineUnavailableError(
                f"a {type(model).__name__} is no torch module, and only these are compiled"
            )
        refuse_not_understood(model)
        self._lock = threading.Lock()
        self._seen: set[int] = set()
        try:
            self._compile(model, example, freezing=True)
        except EngineUnavailableError:
            # Frozen convolutions may hide what is no number behind their activation.
            self._compile(model, example, freezing=False)

    def _compile(self, model: nn.Module, example: torch.Tensor, *, freezing: bool) -> None:
        self._run = _compiled(model, example, freezing=freezing)
        refuse_other_answers(self.forward, lambda batch: model(batch.to(self.device)), example)

    @torch.inference_mode()
    @override
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        rows = len(batch)
        moved = batch.to(self.device, non_blocking=True)
        if rows in self._seen:
            return as_logits(self._run(moved), rows)
        with self._lock:  # a new number of rows may compile, which one thread must do alone
            logits = as_logits(self._run(moved), rows)
            self._seen.add(rows)
        return logits


def _compiled(model: nn.Module, example: torch.Tensor, *, freezing: bool) -> Any:
    """Compile and run once, so that whatever is missing shows here and not in a worker."""
    import torch._inductor.config as inductor

    device = device_of(model)
    try:
        with alone(), warnings.catch_warnings(), torch.inference_mode(), inductor.patch(freezing=freezing):
            warnings.simplefilter("ignore")
            torch._dynamo.reset()  # else the code of the last attempt would be found again
            run = torch.compile(model, dynamic=True, fullgraph=True)
            for rows in (3 * MIN_ROWS + 1, 2 * MIN_ROWS):
                run(example.expand(rows, *example.shape).contiguous().to(device))
    except Exception as error:  # the compiler runs other programs, which may fail in any way
        first = str(error).strip().splitlines()[0][:120] if str(error).strip() else ""
        raise EngineUnavailableError(f"it cannot be compiled ({type(error).__name__}: {first})") from error
    return run
