"""Which releases calculate the votes, for manifests and for workers elsewhere."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import version

_version = cache(version)  # looked up in files, which takes milliseconds


def versions_for(package: str | None) -> dict[str, str]:
    """Return releases by name: of this package, of what it calculates with, and of Python.

    Args:
        package: what an engine calculates with beside torch (`Engine.package`); None for nothing.
    """
    names = ("smoothcert", "torch", "numpy", "scipy", *(() if package is None else (package,)))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {**{name: _version(name) for name in names}, "python": python}
