"""ONNX Runtime: the model as a fixed graph, executed by the calling thread alone."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from torch import nn
from typing_extensions import override

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.nan_keeping_pool import refuse_other_pools, with_nan_keeping_pools
from smoothcert.engines.turns import alone
from smoothcert.engines.unavailable import EngineUnavailableError, refuse_not_understood
from smoothcert.engines.workload import Model, Workload, device_of
from smoothcert.errors import CheckpointError
from smoothcert.networks import MIN_ROWS, as_logits, holds_onnx, onnx_session, runs_known_code

EXPORT_PAYS = 8e12
"""Floating-point operations from which the seconds of exporting are won back.

Folded, channels-last torch is within a tenth of ONNX Runtime on the networks measured, so only half a minute of
forward passes on two cores or more is worth an export.
"""


class OnnxEngine(Engine):
    """A module exported once and run by ONNX Runtime on the CPU, one thread per call.

    Not for models with control flow that depends on the image: the exporter refuses those, where tracing would
    silently keep one branch. What is an ONNX file, or has one among its members, is run as it is.
    """

    runs_onnx_files: ClassVar[bool] = True

    @classmethod
    def preference(cls, workload: Workload) -> int:
        """Return more than torch does, for a module on the CPU and votes that win back the seconds of exporting."""
        if holds_onnx(workload.model):
            return 2
        exportable = isinstance(workload.model, nn.Module) and workload.device.type == "cpu"
        return 2 if exportable and workload.operations >= EXPORT_PAYS else 0

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        super().__init__(model, num_classes, example)
        if not isinstance(model, nn.Module):
            raise EngineUnavailableError(
                f"a {type(model).__name__} is no torch module, and only these can be exported"
            )
        if device_of(model).type != "cpu":
            raise EngineUnavailableError(
                f"it is on {device_of(model)}, and ONNX Runtime is run on the CPU here"
            )
        self._session: Any = None
        if holds_onnx(model):
            self.as_is, self.shareable = True, runs_known_code(model)
            return
        refuse_not_understood(model)
        refuse_other_pools(model)
        self._session = _session(_exported(with_nan_keeping_pools(model), example))
        outputs = len(self._session.get_outputs())
        if outputs != 1:
            raise EngineUnavailableError(
                f"it answers with {outputs} arrays, and the graph of one is run here"
            )
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


def _exported(model: nn.Module, example: torch.Tensor) -> bytes:
    """Return the model as ONNX with any number of rows."""
    rows = torch.export.Dim("rows", min=2)
    batch = example.expand(MIN_ROWS, *example.shape).contiguous()
    try:
        with alone(), _quiet(), torch.no_grad():
            program = torch.onnx.export(
                model, (batch,), dynamo=True, dynamic_shapes=({0: rows},), verbose=False
            )
            assert program is not None
            graph: bytes = program.model_proto.SerializeToString()
    except Exception as error:  # the exporter runs the model's own code, which may raise anything
        reason = type(error.__cause__ or error).__name__
        raise EngineUnavailableError(
            f"it cannot be exported ({reason}; control flow that depends on the image is the usual cause)"
        ) from error
    return graph


def _session(graph: bytes) -> Any:
    try:
        return onnx_session(graph)
    except CheckpointError as error:
        raise EngineUnavailableError(str(error)) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's chatter about optional packages to itself."""
    loggers = [logging.getLogger(name) for name in ("torch", "torch.fx", "torch.onnx", "onnxscript")]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
