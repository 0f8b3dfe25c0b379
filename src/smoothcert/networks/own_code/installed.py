"""Which code belongs to an installed package, and so goes by name and release."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_OWN = ("torch", "smoothcert", "numpy", "builtins")


def is_installed(value: Any) -> bool:
    """Return whether a class or function is of an installed package or of Python itself, not a user's own."""
    name = getattr(value, "__module__", None) or ""
    return is_installed_package(name) and (name.partition(".")[0] in _OWN or not _stands_elsewhere(value))


def is_installed_module(module: ModuleType) -> bool:
    """Return whether a module is of an installed package or of Python itself; by its own file, not by its name."""
    file = getattr(module, "__file__", None)
    if module.__name__.partition(".")[0] in _OWN or not isinstance(file, str):
        return is_installed_package(module.__name__)
    return _in_homes(file)


def _stands_elsewhere(value: Any) -> bool:
    """Return whether a function, or one of a class, is of a file that no package installed: one of the same name."""
    held = (
        getattr(one, "__func__", one)
        for one in (vars(value).values() if isinstance(value, type) else (value,))
    )
    files = (one.__code__.co_filename for one in held if isinstance(one, FunctionType))
    return any(not file.startswith("<") and not _in_homes(file) for file in files)


@cache
def _in_homes(file: str) -> bool:
    homes = (sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(Path(file).is_relative_to(home) for home in homes)


@cache
def is_installed_package(name: str) -> bool:
    """Return whether a module is below the folders that packages are installed into."""
    top = name.partition(".")[0]
    if top in _OWN or top in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(name) or sys.modules.get(top), "__file__", None)
    if not isinstance(file, str):
        return top in sys.stdlib_module_names
    return _in_homes(file)


def package_text(value: Any) -> str:
    """Return the name and release of the package that a module, class or function is of; nothing for a user's own."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    top = str(name).partition(".")[0]
    if not top or not is_installed_package(str(name)):
        return ""
    return f"{top} {getattr(sys.modules.get(top), '__version__', '')}"
