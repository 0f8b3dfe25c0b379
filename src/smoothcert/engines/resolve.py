"""From an engine's name to the engine."""

from __future__ import annotations

from smoothcert.engines.engine import ENGINES, Engine, Model
from smoothcert.errors import UnknownNameError


def resolve_engine(name: str, model: Model, num_classes: int) -> Engine:
    """Return the engine called `name` for a model; "auto" is a fixed rule, so that a resume chooses alike.

    The rule: eager torch, the engine that takes every callable.
    """
    if name != "auto" and name not in ENGINES:
        raise UnknownNameError(f"unknown engine {name!r}; known: auto, {', '.join(ENGINES)}")
    return ENGINES["torch" if name == "auto" else name](model, num_classes)
