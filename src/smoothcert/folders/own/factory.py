"""Factories of the user's own: imported and called because the user said so, and for no other reason.

Nothing that is read from a folder, a card or a run leads here by itself: whoever calls `build` has been given the name
of the factory by the user, now.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from smoothcert.errors import FactoryError
from smoothcert.folders.own.beside import beside
from smoothcert.folders.own.factory_name import FactoryName
from smoothcert.on_demand import nn
from smoothcert.reading import read_bytes
from smoothcert.visible import brief, visible

Scalar = str | int | float | bool | None
"""What a factory can be told from a command line, and what a card keeps of it."""
_PRIVATE = "own_model_"
_HOME = f"{Path(__file__).parents[2]}/"  # of this package
_log = logging.getLogger("smoothcert")


def build(name: FactoryName, arguments: Mapping[str, Scalar]) -> Any:
    """Run a factory and return the model that it builds, a module in eval mode; refuse what is none.

    A file is imported under a name of its own, and finds what stands beside it while it runs (`beside`). What it prints
    goes to standard error.

    Args:
        name: the factory, as the user gave it.
        arguments: what it is called with.
    """
    told = ", ".join(f"{key}={brief(value, 60)}" for key, value in arguments.items())
    _log.warning("running code of your own: %s(%s)", name, told)
    model = run_factory(name, arguments)
    if not isinstance(model, nn.Module):
        return model
    lazy = next((key for key, weights in model.named_parameters() if nn.parameter.is_lazy(weights)), None)
    if lazy is not None:
        raise FactoryError(
            f"{name} returned a module whose parameter {lazy!r} has no shape yet; give it one batch in the factory "
            "before it is returned, or name the sizes (Linear in place of LazyLinear)"
        )
    return model.eval().requires_grad_(False)


def run_factory(name: FactoryName, arguments: Mapping[str, Scalar]) -> Any:
    """Run a factory and return the model as it was built, in whatever mode; says nothing. Arguments as for `build`."""
    with _its_own_faults(name), beside(name.file), contextlib.redirect_stdout(sys.stderr):
        module = importlib.import_module(name.place) if name.file is None else _from_file(name.file)
        factory: Any = module
        for part in name.name.split("."):
            if not hasattr(factory, part):
                raise FactoryError(f"{name.place} has no {part!r}, which {name} asks for")
            factory = getattr(factory, part)
        if not callable(factory):
            raise FactoryError(
                f"{name} is {brief(factory, 60)}, which cannot be called; name a function or class"
            )
        model = factory(**arguments)
    if isinstance(model, type) or not callable(model):
        raise FactoryError(
            f"{name} returned {brief(model, 80)}; it must return a torch module, or a callable from a batch of images "
            "to logits"
        )
    return model


def _from_file(path: Path) -> ModuleType:
    """Run a Python file as a module of its own, and leave no compiled file beside it.

    Its name says nothing of the folder: identities of models hold it, and a file that was moved is the same code.
    """
    content = read_bytes(path, FactoryError)
    name = _PRIVATE + re.sub(r"\W", "_", path.stem)
    module = ModuleType(name)
    module.__file__ = str(path.resolve())
    before = sys.modules.get(name)
    sys.modules[name] = module  # where dataclasses and others look a class's module up
    try:
        exec(compile(content, module.__file__, "exec"), vars(module))  # the user named this file
    except BaseException:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise
    return module


@contextlib.contextmanager
def _its_own_faults(name: FactoryName) -> Iterator[None]:
    """Report what the user's code raises as the user's: file, line and error, in one sentence."""
    try:
        yield
    except FactoryError:
        raise
    except (Exception, SystemExit) as error:
        reason = visible(" ".join(str(error).split()))[:200]
        raise FactoryError(f"{name} failed{_place(error, name)}: {type(error).__name__}: {reason}") from error


def _place(error: BaseException, name: FactoryName) -> str:
    """Say in which line of the user's code an error arose, where that can be told."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" in {error.filename}, line {error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_HOME, "<frozen")) and "/importlib/" not in frame.filename
    ]
    own = None if name.file is None else str(name.file.resolve())
    frames = [frame for frame in frames if frame.filename == own] or frames
    return f" in {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
