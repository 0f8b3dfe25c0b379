"""Which modules may be transformed: those made of torch's and this package's own modules and nothing else.

A traced, exported or compiled copy keeps what the tracer saw. Hooks, an overridden call, a function set on the
instance, a layer in two places, or any code of the user's own can make the copy another classifier than the model,
and a certificate about it false: there are too many ways to tell a tracer's stand-in from a tensor to look for them.
So whatever holds other code is run as `model(x)`.
"""

from __future__ import annotations

from collections.abc import Iterator, ValuesView
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as torch_module

from smoothcert.networks.own_code.user_code import closure_values

_HOMES = (
    f"{Path(str(torch.__file__)).parent}/",
    f"{Path(__file__).parents[2]}/",
)  # of torch and of this package
_FIELDS = frozenset(vars(nn.Module()))
_CALLS = ("__call__", "_call_impl", "_wrapped_call_impl", "__getattr__", "__getattribute__", "__deepcopy__")
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks")
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_MOST_DEVIATIONS = 1e4  # between the mean and zero: float32 then leaves three digits of a deviation
_PLAIN_TENSORS = (torch.Tensor, nn.Parameter, nn.Buffer)


def why_not_understood(model: nn.Module) -> str | None:
    """Return why a transformed copy could answer otherwise than the model; None if it cannot."""
    reason = why_intercepted(model)
    if reason:
        return reason
    seen: set[int] = set()
    for name, part in model.named_modules(remove_duplicate=False):
        if id(part) in seen:
            return f"its {_title(name, part)} is in two places"
        seen.add(id(part))
        reason = _own_code(part)
        if reason:
            return f"its {_title(name, part)} {reason}"
        if isinstance(part, _BATCH_NORMS) and _cancels(part):
            return f"the means of its {_title(name, part)} dwarf its deviations, so folding would round otherwise"
    return None


def _cancels(norm: nn.BatchNorm1d | nn.BatchNorm2d | nn.BatchNorm3d) -> bool:
    """Return whether a batch norm takes a number off one so near that little is left in float32.

    The model rounds before it subtracts; where both are folded into one number, nothing is lost, which is another
    answer.
    """
    if norm.running_mean is None or norm.running_var is None:
        return False
    deviation = (norm.running_var.double() + norm.eps).sqrt()
    return not bool((norm.running_mean.double().abs() <= _MOST_DEVIATIONS * deviation).all())


def is_understood(model: Any) -> bool:
    """Return whether a model is a module that runs no code but torch's and this package's."""
    try:
        return why_not_understood(model) is None
    except (
        AttributeError
    ):  # a callable of another kind has no modules, a scripted one lacks some of their fields
        return False


def runs_known_code(model: nn.Module) -> bool:
    """Return whether a module and its parts run no code but torch's and this package's, layers in two places or not."""
    return all(_own_code(part) is None for part in model.modules())


def _own_code(part: nn.Module) -> str | None:
    """Return how one module, its parts aside, comes to run code from elsewhere; None if it does not."""
    if not _is_known_class(type(part)):
        return "is code of your own, which is run as it is"
    if any(callable(held) and not _is_known(held) for held in _held(part)):
        return "holds code of your own"
    return None


def why_intercepted(model: nn.Module) -> str | None:
    """Return why calling a model does more than its classes' `forward`; None if it does not."""
    if any(vars(torch_module)[hooks] for hooks in _GLOBAL_HOOKS):
        return "torch has forward hooks for all modules"
    for name, part in model.named_modules(remove_duplicate=False):
        reason = _interception(part)
        if reason:
            return f"its {_title(name, part)} {reason}"
    return None


def _interception(part: nn.Module) -> str | None:
    kind = type(part)
    if part._forward_hooks or part._forward_pre_hooks:
        return "has a forward hook"
    for method in _CALLS:
        if getattr(kind, method, None) is not getattr(nn.Module, method, None):
            return f"overrides {method}"
    for attribute in vars(part):
        if callable(getattr(kind, attribute, None)):
            return f"has a {attribute} of its own on the instance"
    if part._compiled_call_impl is not None:
        return "was compiled in place"
    if hasattr(part, "parametrizations"):
        return "has parametrised weights"
    tensors = (*part._parameters.values(), *part._buffers.values())
    if any(tensor is not None and type(tensor) not in _PLAIN_TENSORS for tensor in tensors):
        return "has weights of a class of their own"
    return None


def _title(name: str, part: nn.Module) -> str:
    return f"{type(part).__name__} {name!r}" if name else type(part).__name__


def _is_known_class(kind: type) -> bool:
    """Return whether all functions of a class were written in torch or here, also those put there later.

    Only of `torch.nn`: torch's modules for quantisation write down what they see.
    """
    if not (kind.__module__ or "").startswith(("torch.nn.", "smoothcert.")):
        return False
    for base in kind.__mro__:
        for member in vars(base).values():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, FunctionType) and not _is_known(function):
                return False
    return True


def _held(part: nn.Module) -> Iterator[Any]:
    """Yield what a module holds beside its parameters, buffers and submodules."""
    for name, value in vars(part).items():
        if name not in _FIELDS:
            inner = value.values() if isinstance(value, dict) else value
            yield from inner if isinstance(inner, list | tuple | set | ValuesView) else (value,)


def _wraps_own_code(function: FunctionType) -> bool:
    """Return whether a function of torch's is a wrapper around code from elsewhere, as a decorator makes it."""
    inner = [getattr(function, "__wrapped__", None), *closure_values(function)]
    return any(
        isinstance(held, FunctionType | MethodType | partial) and held is not function and not _is_known(held)
        for held in inner
    )


def _is_known(value: Any) -> bool:
    """Return whether something callable was written in torch, in this package, or in C.

    By the file of its code: its name and module can be those of what it wraps.
    """
    if isinstance(value, partial):
        return all(
            _is_known(part) for part in (value.func, *value.args, *value.keywords.values()) if callable(part)
        )
    if isinstance(value, type):
        return (value.__module__ or "").split(".")[0] in ("torch", "smoothcert", "builtins")
    function = getattr(value, "__func__", value)
    if isinstance(function, FunctionType):
        file = function.__code__.co_filename
        home = file.startswith(_HOMES) or (file.startswith("<") and function.__module__ in ("abc", "typing"))
        return home and not _wraps_own_code(function)
    return isinstance(function, BuiltinFunctionType | torch.dtype)
