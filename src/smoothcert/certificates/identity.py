"""Who a model is: the digest of its weights, or the best that can be said of a plain callable."""

from __future__ import annotations

import hashlib
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch

from smoothcert.ensembles import model_digest


def identities(model: Any) -> tuple[str, ...]:
    """Return one identity per answer of a model; a panel names its classifiers."""
    return tuple(_identity(part) for part in getattr(model, "classifiers", (model,)))


def _identity(model: Any) -> str:
    """Return a weights digest, or name and fingerprint of a callable.

    A callable's fingerprint covers its code and the plain values, arrays and modules it holds; not what it
    reads from elsewhere. It tells two closures of one function apart, it does not prove them equal.
    """
    if isinstance(model, torch.nn.Module):
        return model_digest(model)
    name = getattr(model, "__qualname__", type(model).__qualname__)
    module = getattr(model, "__module__", None) or type(model).__module__
    found = hashlib.sha256()
    _feed(found, model, depth=0)
    return f"callable:{module}.{name}:{found.hexdigest()[:16]}"


def _feed(found: Any, value: Any, depth: int) -> None:
    """Add a value to a digest; what has no stable content adds only its type."""
    found.update(type(value).__qualname__.encode() + b"|")
    if isinstance(value, torch.nn.Module):
        found.update(model_digest(value).encode())
    elif isinstance(value, torch.Tensor | np.ndarray):
        found.update(
            np.ascontiguousarray(value.detach() if isinstance(value, torch.Tensor) else value).tobytes()
        )
    elif isinstance(value, str | bytes | int | float | bool | None):
        found.update(repr(value).encode())
    elif depth > 4:
        return
    elif isinstance(value, CodeType):
        found.update(value.co_code + repr(value.co_names).encode())
        _feed_all(found, value.co_consts, depth)
    elif isinstance(value, FunctionType):
        _feed(found, value.__code__, depth + 1)
        _feed_all(found, value.__defaults__ or (), depth)
        _feed_all(found, [cell.cell_contents for cell in value.__closure__ or ()], depth)
    elif isinstance(value, MethodType):
        _feed_all(found, (value.__func__, value.__self__), depth)
    elif isinstance(value, list | tuple):
        _feed_all(found, value, depth)
    elif isinstance(value, dict):
        _feed_all(found, [part for item in value.items() for part in item], depth)
    else:
        _feed_all(found, [part for item in getattr(value, "__dict__", {}).items() for part in item], depth)


def _feed_all(found: Any, values: Any, depth: int) -> None:
    for value in values:
        _feed(found, value, depth + 1)
