"""Engines of other packages: run like this package's own, and taken at their word in nothing."""

from __future__ import annotations

import torch

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine, name_on
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.engines.workload import Model
from smoothcert.networks import is_understood


def refuse_unproven(engine: Engine, name: str, model: Model, example: torch.Tensor) -> None:
    """Compare what the engine votes with against the model; raise `EngineUnavailableError` if they differ.

    Whatever the engine says of itself: that it calls the model as it is, or that another way through it than that
    of the votes is the one to compare, exempts it from no comparison here or later. Threads ask it at the same time
    only if the model has no code of the user's own.

    Args:
        engine: just built.
        name: under which it is registered.
        model: what it executes.
        example: one image of the shape that will be asked about.
    """
    if engine.engine_name != name_on(name, engine.device):
        raise EngineUnavailableError(f"it calls itself {engine.engine_name!r}, which certificates would say")
    engine.as_is = False
    engine.shareable = engine.shareable and is_understood(model)

    def votes(batch: torch.Tensor) -> torch.Tensor:
        return engine.counted_forward(batch)[0]

    engine.exact_forward = votes  # type: ignore[method-assign]  # the comparisons during the run ask it
    refuse_other_answers(votes, lambda batch: model(batch.to(engine.device)), example)
