"""ONNX Runtime: the model as a fixed graph, executed by the calling thread alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from typing_extensions import override

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.onnx_export import (
    export_seconds,
    exported,
    module_on_cpu,
    refuse_several_answers,
)
from smoothcert.engines.quantized_parts import proven_runs
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.engines.workload import Model, Workload
from smoothcert.errors import CheckpointError
from smoothcert.networks import (
    INT8,
    QuantizedNetwork,
    as_logits,
    holds_onnx,
    onnx_session,
    quantized_parts,
    runs_known_code,
)

_STAND_IN_SECONDS = 0.1  # where a quantised network names another engine, this one comes after it


class OnnxEngine(Engine):
    """A module exported once and run by ONNX Runtime on the CPU, one thread per call.

    Not for models with control flow that depends on the image: the exporter refuses those, where tracing would
    silently keep one branch. What is an ONNX file, or has one among its members, is run as it is.
    """

    runs_onnx_files: ClassVar[bool] = True
    runs_quantized: ClassVar[bool] = True
    package: ClassVar[str | None] = "onnxruntime"

    @classmethod
    @override
    def setup_seconds(cls, workload: Workload) -> float | None:
        parts = list(quantized_parts(workload.model))
        if parts:
            return _STAND_IN_SECONDS if all(part.precision == INT8 for part in parts) else None
        return 0.0 if holds_onnx(workload.model) else export_seconds(workload)

    @classmethod
    @override
    def quantized_run(cls, network: QuantizedNetwork, rows: int) -> Callable[[torch.Tensor], torch.Tensor]:
        if network.precision != INT8:
            raise EngineUnavailableError(f"ONNX Runtime does not calculate in {network.precision}")
        return network

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        super().__init__(model, num_classes, example)
        module = module_on_cpu(model)
        self._session: Any = None
        if holds_onnx(module):
            proven_runs(type(self), module, self.best_rows)
            self.as_is, self.shareable = True, runs_known_code(module)
            return
        self._session = _session(exported(module, example))
        refuse_several_answers(len(self._session.get_outputs()))
        self._input = self._session.get_inputs()[0].name
        refuse_other_answers(self.forward, model, example)

    @override
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        if self._session is None:
            return self._as_it_is(batch)
        (logits,) = self._session.run(None, {self._input: batch.numpy()})
        return torch.from_numpy(logits)

    @torch.inference_mode()
    def _as_it_is(self, batch: torch.Tensor) -> torch.Tensor:
        return as_logits(self.model(batch), len(batch))


def _session(graph: bytes) -> Any:
    try:
        return onnx_session(graph)
    except CheckpointError as error:
        raise EngineUnavailableError(str(error)) from error
