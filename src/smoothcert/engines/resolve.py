"""From an engine's name to the engine, and the fixed rule behind "auto"."""

from __future__ import annotations

import logging

import torch
from torch import nn

from smoothcert.engines.agreement import refuse_other_answers_under
from smoothcert.engines.early_exit import EarlyExitEngine
from smoothcert.engines.engine import ENGINES, Engine, Model, device_of, name_on
from smoothcert.engines.errors import EngineUnavailableError
from smoothcert.engines.rows import rows_in_cache
from smoothcert.engines.torch_engine import EagerEngine, TorchEngine
from smoothcert.engines.turns import turn
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.networks import MIN_ROWS, exits_early, forward_flops, whole_parts
from smoothcert.noise import NoiseLaw

EXPORT_PAYS = 8e12
"""Floating-point operations from which the seconds of exporting are won back.

Folded, channels-last torch is within a tenth of ONNX Runtime on the networks measured, so only half a minute of
forward passes on two cores or more is worth an export.
"""

_log = logging.getLogger("smoothcert")


def engine_rule(name: str, model: Model, example: torch.Tensor, planned_votes: int) -> str:
    """Return the engine to try: `name` itself, or for "auto" a fixed rule, so that a resume chooses alike.

    The rule: ONNX Runtime for a module on the CPU if the planned votes cost at least `EXPORT_PAYS` operations,
    else torch. No clock is read. For a model on another device than the CPU the name says so ("torch@cuda"), as
    a certificate does; such a name is taken for a model on that kind of device only.
    """
    device = device_of(model)
    if name != "auto":
        wanted, _, place = name.partition("@")
        if wanted not in ENGINES:
            raise UnknownNameError(f"unknown engine {name!r}; known: auto, {', '.join(ENGINES)}")
        if place and place != device.type:
            raise InvalidArgumentError(
                f"engine {name!r} needs the model on {place}, but it is on {device.type}, where the noise is "
                f"another; move it with model.to({place!r})"
            )
        return name_on(wanted, device)
    if not isinstance(model, nn.Module) or device.type != "cpu":
        return name_on("torch", device)
    try:  # what exits early is charged for all its parts, because what it skips depends on the image
        with turn():
            cost = sum(forward_flops(part, seen) for part, seen in whole_parts(model, example))
    except Exception:  # the model's own code; the probe will name the trouble with the image
        return "torch"
    return "onnx" if planned_votes * cost >= EXPORT_PAYS else "torch"


def build_engine(
    name: str, model: Model, num_classes: int, example: torch.Tensor, noise: NoiseLaw | None = None
) -> Engine:
    """Return the engine called `name`; where it cannot run the model faithfully, another with one line saying why.

    Args:
        name: as `engine_rule` returned it.
        model: any callable from batch to logits.
        num_classes: classes that every answer must have.
        example: one image of the shape that will be asked about.
        noise: law of the noise that will be added to it, under which engine and model are compared; None compares
            them under general noise only.
    """
    reason: Exception | None = None
    kinds: list[type[Engine]] = [ENGINES[name.partition("@")[0]], TorchEngine]
    for kind in dict.fromkeys(kinds):
        try:
            engine = _built(kind, model, num_classes, example, noise)
            break
        except EngineUnavailableError as error:
            reason = reason or error
    else:
        engine = EagerEngine(model, num_classes, example)
    if reason is not None:
        used = engine.engine_name
        _log.warning("engine %s cannot run this model: %s; running it with %s", name, reason, used)
    return engine


def _built(
    kind: type[Engine], model: Model, num_classes: int, example: torch.Tensor, noise: NoiseLaw | None
) -> Engine:
    engine = _made(kind, model, num_classes, example)
    if noise is not None and not engine.as_is:
        rows = (engine.gathers * rows_in_cache(example), 2 * MIN_ROWS + 5)
        refuse_other_answers_under(
            noise, rows, engine.exact_forward, lambda batch: model(batch.to(engine.device)), example
        )
    return engine


def _made(kind: type[Engine], model: Model, num_classes: int, example: torch.Tensor) -> Engine:
    if isinstance(model, nn.Module) and exits_early(model) and kind is not EagerEngine:
        return EarlyExitEngine(kind, model, num_classes, example)
    return kind(model, num_classes, example)
