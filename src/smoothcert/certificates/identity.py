"""Who a model is: the digest of its weights, or the best that can be said of a plain callable."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections import deque
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

from smoothcert.ensembles import Panel, model_digest

_DEPTH = 10  # of containers in containers; enough for closures over functions over settings
_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_TOLD = (
    np.generic,
    Decimal,
    Fraction,
    torch.dtype,
    torch.device,
    slice,
    range,
    bytearray,
)  # wholly by their text
_HELD = (*_PLAIN, *_TOLD, tuple, list, dict, torch.Tensor, np.ndarray)
_OWN = frozenset(vars(nn.Module()))  # what torch keeps in every module
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")
_NAMED = (
    "torch",
    "smoothcert",
    "numpy",
)  # packages whose code goes by its name; the manifest has their versions


def identities(model: Any) -> tuple[str, ...]:
    """Return one identity per answer of a model; a panel names its classifiers."""
    parts = model.classifiers if isinstance(model, Panel) else (model,)
    return tuple(_identity(part) for part in parts)


def _identity(model: Any) -> str:
    """Return the weights digest and a fingerprint of the structure, or name and fingerprint of a callable.

    A fingerprint covers code, class names and the plain values, arrays, functions and modules that are held; not what
    is read from elsewhere. It tells two closures of one function apart, it does not prove them equal.
    """
    found = _Fingerprint()
    if isinstance(model, nn.Module):
        found.add_structure(model)
        return f"{model_digest(model)}/{found.text}"
    name = getattr(model, "__qualname__", type(model).__qualname__)
    module = getattr(model, "__module__", None) or type(model).__module__
    found.add(model)
    return f"callable:{module}.{name}:{found.text}"


class _Fingerprint:
    """A digest of whatever decides an answer. Not of how often one object is held: copies count like the original."""

    def __init__(self) -> None:
        self._digest, self._path = hashlib.sha256(), set[int]()

    @property
    def text(self) -> str:
        return self._digest.hexdigest()[:16]

    def add_structure(self, model: nn.Module) -> None:
        """Add what decides a module's answers beside its weights: classes, settings, hooks, unsaved buffers."""
        for name, part in model.named_modules(remove_duplicate=False):
            kind = type(part)
            self._digest.update(f"{name}|{kind.__module__}.{kind.__qualname__}|{part.extra_repr()}|".encode())
            settings = {key: value for key, value in vars(part).items() if key not in _OWN}
            if _is_named(kind):  # private values of torch's modules may hold half of torch
                settings = {
                    key: value
                    for key, value in settings.items()
                    if key == "forward"
                    or (not key.startswith("_") and isinstance(value, (*_HELD, *_FUNCTIONS)))
                }
            self.add(settings, depth=1)
            for code in _code_of(kind):
                self.add(code, depth=1)
            if isinstance(part, torch.jit.ScriptModule | torch.fx.GraphModule):
                self.add(str(part.code), depth=1)
            for hooks in _HOOKS:
                self.add(list(vars(part)[hooks].values()), depth=1)
            for buffer in sorted(part._non_persistent_buffers_set):
                self.add(part._buffers[buffer], depth=1)

    def add(self, value: Any, depth: int = 0) -> None:
        """Add a value; what has no stable content adds only its type, what holds itself adds nothing again."""
        self._digest.update(type(value).__qualname__.encode() + b"|")
        if isinstance(value, torch.Tensor):
            raw = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            self._digest.update(f"{value.dtype}{tuple(value.shape)}".encode() + raw.tobytes())
        elif isinstance(value, np.ndarray):
            self._digest.update(
                f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
            )
        elif isinstance(value, (*_PLAIN, *_TOLD)):
            self._digest.update(repr(value).encode())
        elif id(value) not in self._path and depth <= _DEPTH:
            self._path.add(id(value))
            if isinstance(value, nn.Module):
                self._digest.update(model_digest(value).encode())
                self.add_structure(value)
            else:
                for part in _parts(value):
                    self.add(part, depth + 1)
            self._digest.update(b")")
            self._path.remove(id(value))


_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial)


def _is_named(value: Any) -> bool:
    """Return whether a class or function is of a package that goes by its name and version."""
    return (getattr(value, "__module__", None) or "").split(".")[0] in _NAMED


def _code_of(kind: type) -> Iterable[Any]:
    """Yield methods and constants of a user's class by name: two classes of one name may answer differently."""
    for base in kind.__mro__:
        if not _is_named(base) and base is not object:
            for name, member in sorted(vars(base).items()):
                held = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(held, FunctionType) or (
                    name[:2] != "__" and isinstance(held, (*_HELD, *_FUNCTIONS))
                ):
                    yield (name, held)


def _parts(value: Any) -> Iterable[Any]:
    """Return what a container, function or object is made of, in a stable order."""
    if isinstance(value, CodeType):
        return (value.co_code, value.co_names, value.co_consts)
    if isinstance(value, type | BuiltinFunctionType) or (
        isinstance(value, FunctionType) and _is_named(value)
    ):
        return (getattr(value, "__module__", None), value.__qualname__, getattr(value, "__self__", None))
    if isinstance(value, FunctionType):
        return (value.__code__, value.__defaults__, value.__kwdefaults__, _cells(value))
    if isinstance(value, MethodType):
        return (value.__func__, value.__self__)
    if isinstance(value, partial):
        return (value.func, value.args, value.keywords)
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    if isinstance(value, list | tuple | deque):
        return value
    if isinstance(value, logging.Logger):  # whose handlers are the process's, not the model's
        return (value.name,)
    if isinstance(value, ModuleType):
        return (value.__name__,)
    if isinstance(value, set | frozenset):
        return sorted(_text(part) for part in value)
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(value, name, None) for name in slots if isinstance(name, str) and name[:2] != "__"}
    name = getattr(value, "__name__", None)  # of what C made: a ufunc, a slot
    return (name, list(_code_of(type(value))), {**held, **getattr(value, "__dict__", {})})


def _text(value: Any) -> str:
    found = _Fingerprint()
    found.add(value)
    return found.text


def _cells(function: FunctionType) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # a cell that was never filled
            found.append(cell.cell_contents)
    return found
