"""Networks below float32 inside a model: each run by one engine, and held to what it answered where it was made."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import nn

from smoothcert.engines.allowed_difference import same_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.processor import this_processor
from smoothcert.engines.unavailable import EngineUnavailableError, refuse_not_understood
from smoothcert.networks import INT8, QuantizedNetwork, holds_onnx, quantized_parts

_TOLERANCE = 1e-4  # share of the spread of logits: integers are the same or not, what follows them is float32
Run = Callable[[torch.Tensor], torch.Tensor]


class _RunBy(nn.Module):
    """A quantised network in its place in a model, run by an engine."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits, (rows, classes)."""
        return self._run(batch)


def proven_runs(kind: type[Engine], model: nn.Module, rows: int) -> dict[int, Run]:
    """Return what runs each quantised part of a model, by the part's `id`.

    Raises `EngineUnavailableError` if the engine cannot run one, or answers its probe otherwise than it did where the
    network was made: then this machine has another classifier.

    Args:
        kind: of the engine.
        model: what holds the parts.
        rows: of most batches.
    """
    runs: dict[int, Run] = {}
    for part in quantized_parts(model):
        if id(part) not in runs:
            runs[id(part)] = kind.quantized_run(part, rows)
            refuse_other_probe(kind, part, runs[id(part)])
    return runs


def refuse_other_probe(kind: type[Engine], network: QuantizedNetwork, run: Run) -> None:
    """Raise `EngineUnavailableError` unless an engine answers a network's probe as it did where that was made.

    Args:
        kind: of the engine.
        network: with its probe.
        run: the engine's way to run it.
    """
    probe, name = network.probe, kind.registered_name
    if name not in probe.answers:
        raise EngineUnavailableError(
            f"it was quantised where {name} could not run it, so nothing says what it should answer; quantise it here"
        )
    given, expected = run(probe.images), probe.answers[name]
    if not same_answers([given], [expected], _TOLERANCE):
        votes = int((given.argmax(dim=1) != expected.argmax(dim=1)).sum())
        raise EngineUnavailableError(
            f"it answers {votes} of the {len(expected)} images of its probe by another class, and others by other "
            f"numbers, than where it was quantised{_likely_cause(network)}; quantise it here"
        )


def with_runs(model: nn.Module, runs: dict[int, Run]) -> nn.Module:
    """Return a model in which every quantised part is run as said; all other parts are its own, weights shared.

    Not for models with code of the user's own, or with ONNX files in float32: `EngineUnavailableError`.

    Args:
        model: what holds the parts.
        runs: what `proven_runs` returned.
    """
    refuse_not_understood(model)
    places: dict[int, object] = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    for part in quantized_parts(model):
        places[id(part)] = _RunBy(runs[id(part)])
    exchanged = copy.deepcopy(model, places)
    if holds_onnx(exchanged):
        raise EngineUnavailableError("a member is an ONNX file in float32, which ONNX Runtime has to run")
    return exchanged.eval()


def _likely_cause(network: QuantizedNetwork) -> str:
    if network.precision != INT8 or this_processor().int8 is not False:
        return " (by another release of the runtime, or another processor)"
    return " (this processor has no VNNI and saturates int8 products; a network in the 7-bit range would not)"
