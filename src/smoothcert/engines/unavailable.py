"""Why an engine cannot run a model."""

from __future__ import annotations


class EngineUnavailableError(Exception):
    """An engine cannot execute a model; the message says why. Never seen by users: another engine steps in."""
