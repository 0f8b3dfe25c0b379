"""From an engine's name to the engine."""

from __future__ import annotations

import logging

import torch

from smoothcert.engines.agreement import refuse_other_answers_under
from smoothcert.engines.early_exit_engine import EarlyExitEngine
from smoothcert.engines.engine import Engine, name_on
from smoothcert.engines.known import ENGINES
from smoothcert.engines.outside import refuse_unproven
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.engines.workload import Model, Workload, device_of
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.networks import MIN_ROWS, Composite, holds_onnx, precision_of
from smoothcert.noise import NoiseLaw
from smoothcert.visible import brief

_log = logging.getLogger("smoothcert")


def candidates(workload: Workload) -> dict[str, float]:
    """Return this package's engines that "auto" may take for a model, by the seconds that making each takes.

    The first one, which costs nothing, is the plain one. An installed package does not change what a run without a
    name is made with.
    """
    own = (known for known in ENGINES if ENGINES.package_of(known) is None)
    setup = {known: ENGINES[known].setup_seconds(workload) for known in own}
    able = [(seconds, known) for known, seconds in setup.items() if seconds is not None]
    return {known: seconds for seconds, known in sorted(able)}


def engine_rule(name: str, model: Model, example: torch.Tensor) -> str:
    """Return the engine to try: `name` itself, or for "auto" the plain one; no clock is read.

    For a model on another device than the CPU the name says so ("torch@cuda"), as a certificate does; such a name is
    taken for a model on that kind of device only.
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
        below = precision_of(model)
        if below is not None and not ENGINES[wanted].runs_quantized:
            able = ", ".join(known for known in ENGINES if ENGINES[known].runs_quantized)
            raise InvalidArgumentError(
                f"engine {name!r} cannot run a network in {below}; leave the engine out, or choose one of {able}"
            )
        if holds_onnx(model) and not ENGINES[wanted].runs_onnx_files:
            able = ", ".join(known for known in ENGINES if ENGINES[known].runs_onnx_files)
            raise InvalidArgumentError(
                f"engine {name!r} cannot run an ONNX file, which is no torch network; leave the engine out, or choose "
                f"one of {able}"
            )
        return name_on(wanted, device)
    return name_on(next(iter(candidates(Workload(model, example, 0)))), device)


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
    wanted: str | None = name.partition("@")[0]
    while wanted is not None:
        try:
            engine = proven_engine(wanted, model, num_classes, example, noise)
            break
        except EngineUnavailableError as error:
            reason = reason or error
            # One of another package could name itself, and so on for ever.
            wanted = (Engine if ENGINES.package_of(wanted) else ENGINES[wanted]).otherwise
            if wanted is not None and holds_onnx(model) and not ENGINES[wanted].runs_onnx_files:
                wanted = None
    else:
        rule = engine_rule("auto", model, example)
        fix = "there is no other for it" if rule == name else f"leave the engine out, or choose {rule}"
        raise InvalidArgumentError(f"engine {name} cannot run this model: {reason}; {fix}")
    if reason is not None:
        used, engine.stands_in = engine.engine_name, str(reason)
        _log.warning("engine %s cannot run this model: %s; running it with %s", name, reason, used)
    return engine


def proven_engine(
    name: str, model: Model, num_classes: int, example: torch.Tensor, noise: NoiseLaw | None
) -> Engine:
    """Return the engine called `name`, whose answers are the model's; arguments as for `build_engine`.

    `EngineUnavailableError` says why there is none.
    """
    kind = ENGINES[name]
    if ENGINES.package_of(name) is None:
        engine = _made(kind, model, num_classes, example)
    else:
        try:
            engine = _made(kind, model, num_classes, example)
            refuse_unproven(engine, name, model, example)
        except EngineUnavailableError:
            raise
        except Exception as error:  # code of another package, which may raise anything
            raise EngineUnavailableError(f"it raised {type(error).__name__}: {brief(error)}") from error
    if noise is not None and not engine.as_is:
        rows = (engine.best_rows, 2 * MIN_ROWS + 5)
        refuse_other_answers_under(
            noise, rows, engine.exact_forward, lambda batch: model(batch.to(engine.device)), example
        )
    return engine


def _made(kind: type[Engine], model: Model, num_classes: int, example: torch.Tensor) -> Engine:
    if isinstance(model, Composite) and model.exits_early and kind.takes_parts:
        return EarlyExitEngine(kind, model, num_classes, example)
    return kind(model, num_classes, example)
