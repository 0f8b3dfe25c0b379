"""Engines by name; the names are known before anything that runs a model is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smoothcert.registry import Registry

if TYPE_CHECKING:
    from smoothcert.engines.engine import Engine

ENGINES: Registry[type[Engine]] = Registry(
    "engine", "smoothcert.engines.runtimes", "smoothcert.engines.engine:Engine"
)
