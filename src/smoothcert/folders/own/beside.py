"""What stands beside a factory's file: found by its imports while it runs, and by nobody else's."""

from __future__ import annotations

import contextlib
import importlib
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from smoothcert.networks import is_installed_module

_LOCK = (
    threading.RLock()
)  # sys.path and sys.modules are the whole process's; a factory may load a model itself
_NEVER = frozenset(
    {"torch", "numpy", "smoothcert", *sys.stdlib_module_names}
)  # cannot be loaded a second time
_KINDS = ("stdlib", "platstdlib", "purelib", "platlib")


@contextlib.contextmanager
def beside(file: Path | None) -> Iterator[None]:
    """Let a file import what stands beside it, while it runs: its own helpers, read anew, never another folder's.

    Modules of the same names from elsewhere are out of `sys.modules` meanwhile and back afterwards; those loaded from
    the folder are taken out again. Not for imports that a model makes later, when it is asked: these find no helpers,
    so a factory's file imports them at its top.

    Args:
        file: of the factory; None for a factory of a package.
    """
    if file is None:
        yield
        return
    folder = file.resolve().parent
    with _LOCK:
        known, compiles = set(sys.modules), sys.dont_write_bytecode
        taken = _take_out([name for name in known if _is_shadowed(name, folder)])
        sys.path.insert(0, str(folder))
        sys.dont_write_bytecode = True
        importlib.invalidate_caches()
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):
                sys.path.remove(str(folder))
            sys.dont_write_bytecode = compiles
            _take_out([name for name in sys.modules if name not in known and _is_from(name, folder)])
            _take_out(list(taken))
            sys.modules.update(taken)


def _take_out(names: list[str]) -> dict[str, ModuleType]:
    """Take top-level modules out of `sys.modules` with all that is below them, and return what was taken."""
    tops = {name for name in names if "." not in name}
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in tops}


def _is_shadowed(name: str, folder: Path) -> bool:
    """Return whether a top-level module was loaded from elsewhere under the name of something in a folder."""
    if "." in name or name in _NEVER or _is_from(name, folder) or _is_home(folder):
        return False
    if (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file():
        return True
    # A plain folder of code gives way to a package that is installed, as it does in Python.
    module = sys.modules.get(name)
    return (folder / name).is_dir() and not (isinstance(module, ModuleType) and is_installed_module(module))


def _is_from(name: str, folder: Path) -> bool:
    """Return whether a top-level module was loaded from right inside a folder that holds no installed packages."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        place = Path(file)
        place = place.parent if place.name == "__init__.py" else place
    else:
        place = Path(next(iter(getattr(module, "__path__", ())), ""))
    return place.name.partition(".")[0] == name and place.parent.resolve() == folder and not _is_home(folder)


def _is_home(folder: Path) -> bool:
    """Return whether a folder is one that packages are installed into, where all stand beside each other."""
    return any(folder == Path(sysconfig.get_path(kind)).resolve() for kind in _KINDS)
