"""From an engine's name to the engine, and the fixed rule behind "auto"."""

from __future__ import annotations

import logging

import torch
from torch import nn

from smoothcert.engines.engine import ENGINES, Engine, EngineUnavailableError, Model
from smoothcert.engines.torch_engine import TorchEngine, device_of
from smoothcert.errors import UnknownNameError
from smoothcert.models import forward_flops

EXPORT_PAYS = 8e12
"""Floating-point operations from which the seconds of exporting are won back.

Folded, channels-last torch is within a tenth of ONNX Runtime on the networks measured, so only half a minute of
forward passes on two cores or more is worth an export.
"""

_log = logging.getLogger("smoothcert")


def engine_rule(name: str, model: Model, example: torch.Tensor, planned_votes: int) -> str:
    """Return the engine to try: `name` itself, or for "auto" a fixed rule, so that a resume chooses alike.

    The rule: ONNX Runtime for a module on the CPU if the planned votes cost at least `EXPORT_PAYS` operations,
    else torch. No clock is read.
    """
    if name != "auto":
        if name not in ENGINES:
            raise UnknownNameError(f"unknown engine {name!r}; known: auto, {', '.join(ENGINES)}")
        return name
    if not isinstance(model, nn.Module) or device_of(model).type != "cpu":
        return "torch"
    try:
        cost = forward_flops(model, example)
    except Exception:  # the model's own code; the probe will name the trouble with the image
        return "torch"
    return "onnx" if planned_votes * cost >= EXPORT_PAYS else "torch"


def build_engine(name: str, model: Model, num_classes: int, example: torch.Tensor) -> Engine:
    """Return the engine called `name`; where it cannot execute the model, torch with one line saying why."""
    try:
        return ENGINES[name](model, num_classes, example)
    except EngineUnavailableError as error:
        _log.warning("engine %s cannot run this model: %s; running it with torch", name, error)
        return TorchEngine(model, num_classes, example)
