"""OpenVINO: the model as a fixed graph, executed by the calling thread alone."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import ClassVar

import torch
from torch import nn
from typing_extensions import override

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.nan_keeping_nodes import with_nan_keeping_nodes
from smoothcert.engines.onnx_export import export_seconds, exported, module_on_cpu
from smoothcert.engines.quantized_parts import proven_runs, with_runs
from smoothcert.engines.unavailable import EngineUnavailableError, refuse_not_understood
from smoothcert.engines.workload import Model, Workload
from smoothcert.errors import CheckpointError
from smoothcert.networks import (
    INT8,
    MIN_ROWS,
    OpenvinoGraph,
    QuantizedNetwork,
    as_logits,
    holds_onnx,
    imported_openvino,
    onnx_of,
    quantized_parts,
)

_COMPILING_SECONDS = 1.0  # of a graph, for three numbers of rows
_MIDDLE = 4 * MIN_ROWS  # rows of a pass for what remains of a batch


class OpenvinoEngine(Engine):
    """A module exported once, or the graph of an ONNX file, run by OpenVINO on the CPU, one thread per call.

    Not a lower precision by itself: it calculates in float32 even where OpenVINO would choose less, and in int8 or
    bfloat16 where the model is a quantised network. Needs the package `openvino`.
    """

    otherwise: ClassVar[str | None] = "onnx"  # the other one that runs ONNX files
    runs_onnx_files: ClassVar[bool] = True
    runs_quantized: ClassVar[bool] = True
    package: ClassVar[str | None] = "openvino"

    @classmethod
    @override
    def setup_seconds(cls, workload: Workload) -> float | None:
        parts, model = list(quantized_parts(workload.model)), workload.model
        if parts:
            named = any(part.precision != INT8 or part.runtime == cls.registered_name for part in parts)
            return 0.0 if named else None
        if not isinstance(model, nn.Module) or find_spec("openvino") is None:
            return None
        if holds_onnx(model):
            return None if onnx_of(model) is None else _COMPILING_SECONDS
        export = export_seconds(workload)
        return None if export is None else export + _COMPILING_SECONDS

    @classmethod
    @override
    def quantized_run(cls, network: QuantizedNetwork, rows: int) -> Callable[[torch.Tensor], torch.Tensor]:
        try:
            return network.openvino_graph(_sizes(rows)).run
        except CheckpointError as error:
            raise EngineUnavailableError(str(error)) from error

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        super().__init__(model, num_classes, example)
        module = module_on_cpu(model)
        self._graph: OpenvinoGraph | None = None
        if any(True for _ in quantized_parts(module)):
            self._whole = with_runs(module, proven_runs(type(self), module, self.best_rows))
            self.as_is = True
            return
        try:
            self._graph = self._float32(module, example)
        except CheckpointError as error:
            raise EngineUnavailableError(str(error)) from error
        refuse_other_answers(self.forward, model, example)

    def _float32(self, module: nn.Module, example: torch.Tensor) -> OpenvinoGraph:
        imported_openvino()  # before the seconds of an export
        file = onnx_of(module)
        if holds_onnx(module) and file is None:
            raise EngineUnavailableError("a member is an ONNX file, which cannot be exported with the others")
        sizes = _sizes(self.best_rows)
        self._before: nn.Module | None = None
        if file is None:
            graph, output = with_nan_keeping_nodes(exported(module, example), pools=True), None
        else:
            refuse_not_understood(file)
            graph, output = with_nan_keeping_nodes(file.graph.content, pools=False), file.graph.output_name
            self._before = file.normalize
            sizes = sizes if file.graph.rows is None else (file.graph.rows,)
        return OpenvinoGraph(graph, output, example.shape, sizes)

    @torch.inference_mode()
    @override
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        if self._graph is None:
            return as_logits(self._whole(batch), len(batch))
        return self._graph.run(batch if self._before is None else self._before(batch))


def _sizes(rows: int) -> tuple[int, ...]:
    """Return the numbers of rows that passes may have, the largest first."""
    return tuple(sorted({rows, _MIDDLE, MIN_ROWS}, reverse=True))
