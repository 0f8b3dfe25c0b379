"""OpenVINO: the model as a fixed graph in float32, executed by the calling thread alone."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn
from typing_extensions import override

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.nan_keeping_nodes import with_nan_keeping_nodes
from smoothcert.engines.onnx_export import exported, module_on_cpu
from smoothcert.engines.openvino_graph import OpenvinoGraph, imported_openvino
from smoothcert.engines.unavailable import EngineUnavailableError, refuse_not_understood
from smoothcert.engines.workload import Model
from smoothcert.networks import MIN_ROWS, holds_onnx, onnx_of

_MIDDLE = 4 * MIN_ROWS  # rows of a pass for what remains of a batch


class OpenvinoEngine(Engine):
    """A module exported once, or the graph of an ONNX file, run by OpenVINO on the CPU, one thread per call.

    Not a lower precision: it calculates in float32 even where OpenVINO by itself would choose less. What is said of
    the model's precision is the model's affair, and no setting of the engine. Needs the package `openvino`; "auto"
    does not choose it.
    """

    otherwise: ClassVar[str | None] = "onnx"  # the other one that runs ONNX files
    runs_onnx_files: ClassVar[bool] = True

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        super().__init__(model, num_classes, example)
        imported_openvino()  # before the seconds of an export
        module = module_on_cpu(model)
        file = onnx_of(module)
        if holds_onnx(module) and file is None:
            raise EngineUnavailableError("a member is an ONNX file, which cannot be exported with the others")
        sizes = tuple(sorted({self.best_rows, _MIDDLE, MIN_ROWS}, reverse=True))
        self._before: nn.Module | None = None
        if file is None:
            graph, output = with_nan_keeping_nodes(exported(module, example), pools=True), None
        else:
            refuse_not_understood(file)
            graph, output = with_nan_keeping_nodes(file.graph.content, pools=False), file.graph.output_name
            self._before = file.normalize
            sizes = sizes if file.graph.rows is None else (file.graph.rows,)
        self._graph = OpenvinoGraph(graph, output, example.shape, sizes)
        refuse_other_answers(self.forward, model, example)

    @torch.inference_mode()
    @override
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self._graph.run(batch if self._before is None else self._before(batch))
