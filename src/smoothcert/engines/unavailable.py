"""Why an engine cannot run a model."""

from __future__ import annotations

from torch import nn

from smoothcert.networks import why_intercepted, why_not_understood


class EngineUnavailableError(Exception):
    """An engine cannot execute a model; the message says why. Never seen by users: another engine steps in."""


def refuse_not_understood(model: nn.Module) -> None:
    """Raise `EngineUnavailableError` with the reason if a transformed copy could answer otherwise than the model."""
    _refuse(why_not_understood(model))


def refuse_intercepted(model: nn.Module) -> None:
    """Raise `EngineUnavailableError` with the reason if calling the model does more than its classes' `forward`."""
    _refuse(why_intercepted(model))


def _refuse(reason: str | None) -> None:
    if reason:
        raise EngineUnavailableError(reason)
