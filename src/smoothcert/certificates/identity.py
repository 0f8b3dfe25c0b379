"""Who a model is: the digest of its weights, or the best that can be said of a plain callable."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import nn

from smoothcert.ensembles import Panel, model_digest

_DEPTH = 6  # of containers in containers; enough for closures over functions over settings
_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_HELD = (*_PLAIN, tuple, list, dict, torch.Tensor, np.ndarray)


def identities(model: Any) -> tuple[str, ...]:
    """Return one identity per answer of a model; a panel names its classifiers."""
    parts = model.classifiers if isinstance(model, Panel) else (model,)
    return tuple(_identity(part) for part in parts)


def _identity(model: Any) -> str:
    """Return the weights digest and a fingerprint of the structure, or name and fingerprint of a callable.

    A fingerprint covers code, class names and the plain values, arrays and modules that are held; not what is
    read from elsewhere. It tells two closures of one function apart, it does not prove them equal.
    """
    found = hashlib.sha256()
    if isinstance(model, nn.Module):
        _feed_structure(found, model)
        return f"{model_digest(model)}/{found.hexdigest()[:16]}"
    name = getattr(model, "__qualname__", type(model).__qualname__)
    module = getattr(model, "__module__", None) or type(model).__module__
    _feed(found, model, depth=0)
    return f"callable:{module}.{name}:{found.hexdigest()[:16]}"


def _feed_structure(found: Any, model: nn.Module) -> None:
    """Add what decides a module's answers beside its weights: classes, settings, unsaved buffers."""
    for name, part in model.named_modules():
        found.update(
            f"{name}|{type(part).__module__}.{type(part).__qualname__}|{part.extra_repr()}|".encode()
        )
        settings = {k: v for k, v in vars(part).items() if not k.startswith("_") and k != "training"}
        _feed(found, {k: v for k, v in settings.items() if isinstance(v, _HELD)}, depth=1)
        for buffer in sorted(part._non_persistent_buffers_set):
            _feed(found, part._buffers[buffer], depth=1)


def _feed(found: Any, value: Any, depth: int) -> None:
    """Add a value to a digest; what has no stable content adds only its type."""
    found.update(type(value).__qualname__.encode() + b"|")
    if isinstance(value, nn.Module):
        found.update(model_digest(value).encode())
        _feed_structure(found, value)
    elif isinstance(value, torch.Tensor):
        found.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    elif isinstance(value, np.ndarray):
        found.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, _PLAIN):
        found.update(repr(value).encode())
    elif depth <= _DEPTH:
        for part in _parts(value):
            _feed(found, part, depth + 1)


def _parts(value: Any) -> Iterable[Any]:
    """Return what a container, function or object is made of, in a stable order."""
    if isinstance(value, CodeType):
        return (value.co_code, value.co_names, value.co_consts)
    if isinstance(value, FunctionType):
        return (value.__code__, value.__defaults__, value.__kwdefaults__, _cells(value))
    if isinstance(value, MethodType):
        return (value.__func__, value.__self__)
    if isinstance(value, partial):
        return (value.func, value.args, value.keywords)
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        return value
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(value, name, None) for name in slots if isinstance(name, str)}
    return (type(value).__call__, {**held, **getattr(value, "__dict__", {})})


def _cells(function: FunctionType) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # a cell that was never filled
            found.append(cell.cell_contents)
    return found
