"""A torch module as a graph of ONNX, for the engines that run such graphs."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import torch
from torch import nn

from smoothcert.engines.nan_keeping_pool import refuse_other_pools, with_nan_keeping_pools
from smoothcert.engines.turns import alone
from smoothcert.engines.unavailable import EngineUnavailableError, refuse_not_understood
from smoothcert.engines.workload import Model, Workload, device_of
from smoothcert.networks import MIN_ROWS, is_understood

_EXPORT_SECONDS, _SECONDS_PER_MODULE = 2.5, 0.04  # measured on one core of 2020
_shared: ContextVar[dict[tuple[Any, ...], bytes] | None] = ContextVar("graphs exported so far", default=None)


def module_on_cpu(model: Model) -> nn.Module:
    """Return the model itself; raise `EngineUnavailableError` unless it is a torch module on the CPU.

    Args:
        model: any callable from batch to logits.
    """
    if not isinstance(model, nn.Module):
        raise EngineUnavailableError(
            f"a {type(model).__name__} is no torch module, and only these can be exported"
        )
    if device_of(model).type != "cpu":
        raise EngineUnavailableError(f"it is on {device_of(model)}, and graphs are run on the CPU here")
    return model


def export_seconds(workload: Workload) -> float | None:
    """Return how long exporting a model takes, about; None for what is not exported.

    Args:
        workload: of which the model counts.
    """
    model = workload.model
    if not isinstance(model, nn.Module) or workload.device.type != "cpu" or not is_understood(model):
        return None
    return _EXPORT_SECONDS + _SECONDS_PER_MODULE * sum(1 for _ in model.modules())


@contextlib.contextmanager
def each_exported_once() -> Iterator[None]:
    """Let all who export the same module meanwhile, in this thread, share the graph: exporting is what takes seconds.

    Not for modules whose weights change inside.
    """
    token = _shared.set({})
    try:
        yield
    finally:
        _shared.reset(token)


def exported(model: nn.Module, example: torch.Tensor, *, keep_nan: bool = True) -> bytes:
    """Return the model as ONNX with any number of rows, its weights inside and its max pools keeping NaN.

    Not for models with control flow that depends on the image: the exporter refuses those, where tracing would
    silently keep one branch. Raises `EngineUnavailableError` for these, and for code that is not understood.

    Args:
        model: a torch module on the CPU.
        example: one image of the shape that will be asked about.
        keep_nan: whether max pools keep NaN; what is quantised has no such values.
    """
    shared, key = _shared.get(), (id(model), tuple(example.shape), keep_nan)
    graph = None if shared is None else shared.get(key)
    if graph is None:
        graph = _exported(model, example, keep_nan=keep_nan)
        if shared is not None:
            shared[key] = graph
    return graph


def _exported(model: nn.Module, example: torch.Tensor, *, keep_nan: bool) -> bytes:
    refuse_not_understood(model)
    if keep_nan:
        refuse_other_pools(model)
    rows = torch.export.Dim("rows", min=2)
    batch = example.expand(MIN_ROWS, *example.shape).contiguous()
    try:
        with alone(), _quiet(), torch.no_grad():
            program = torch.onnx.export(
                with_nan_keeping_pools(model) if keep_nan else model,
                (batch,),
                dynamo=True,
                dynamic_shapes=({0: rows},),
                verbose=False,
            )
            assert program is not None
            graph: bytes = program.model_proto.SerializeToString()
    except Exception as error:  # the exporter runs the model's own code, which may raise anything
        reason = type(error.__cause__ or error).__name__
        raise EngineUnavailableError(
            f"it cannot be exported ({reason}; control flow that depends on the image is the usual cause)"
        ) from error
    return graph


def refuse_several_answers(outputs: int) -> None:
    """Raise `EngineUnavailableError` for a graph that does not answer with one array.

    Args:
        outputs: that the graph has.
    """
    if outputs != 1:
        raise EngineUnavailableError(f"it answers with {outputs} arrays, and the graph of one is run here")


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
