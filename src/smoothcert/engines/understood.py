"""Which modules an engine may transform: those whose answer is their classes' `forward` and nothing else.

A traced, exported or compiled copy keeps what the tracer saw. Hooks, an overridden call, a function set on the
instance, or code that can tell a tracer's stand-in from a tensor make the copy another classifier than the model, and a
certificate about it false. Whatever is not sure to be understood is run as `model(x)`.
"""

from __future__ import annotations

from collections.abc import Iterator, ValuesView
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as torch_module

from smoothcert.engines.errors import EngineUnavailableError
from smoothcert.engines.user_code import attribute_names, closure_values, global_names, nested_code

_KNOWN = (
    "torch",
    "smoothcert",
    "math",
    "builtins",
    "operator",
    "_operator",
    "typing",
)  # whose code cannot tell
_FIELDS = frozenset(vars(nn.Module()))
_CALLS = ("__call__", "_call_impl", "_wrapped_call_impl", "__getattr__", "__getattribute__")
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks")
_PLAIN_TENSORS = (torch.Tensor, nn.Parameter, nn.Buffer)
_TELLTALES = frozenset(
    {
        *("isinstance", "issubclass", "type", "callable", "hasattr", "getattr", "setattr", "id", "__class__"),
        *("vars", "globals", "locals", "eval", "exec", "__import__", "current_thread", "get_ident", "local"),
        *(
            "is_tracing",
            "is_scripting",
            "is_exporting",
            "is_compiling",
            "is_fx_tracing",
            "is_dynamo_compiling",
        ),
        *("is_grad_enabled", "is_inference_mode_enabled", "is_autocast_enabled", "is_inference"),
        *("requires_grad", "data_ptr", "get_native_id"),
    }
)


def refuse_not_understood(model: nn.Module) -> None:
    """Raise `EngineUnavailableError` with the reason if a transformed copy could answer otherwise than the model."""
    refuse_intercepted(model)
    for name, part in model.named_modules():
        for code in _reachable(part):
            reason = _telltale(code)
            if reason:
                raise EngineUnavailableError(
                    f"its {_title(name, part)} {reason}, which a copy would not follow"
                )


def refuse_intercepted(model: nn.Module) -> None:
    """Raise `EngineUnavailableError` if calling the model does more than its classes' `forward`."""
    if any(vars(torch_module)[hooks] for hooks in _GLOBAL_HOOKS):
        raise EngineUnavailableError("torch has forward hooks for all modules")
    for name, part in model.named_modules(remove_duplicate=False):
        reason = _interception(part)
        if reason:
            raise EngineUnavailableError(f"its {_title(name, part)} {reason}")


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


def _reachable(part: nn.Module) -> Iterator[CodeType | str]:
    """Yield the user's code that a module's forward can run; a text for what cannot be read."""
    waiting: list[Any] = [type(part).forward, *_held(part)]
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        function = getattr(value, "__func__", getattr(value, "fget", value))
        if id(function) in seen or not callable(function) or _is_known(function):
            continue
        seen.add(id(function))
        if isinstance(function, partial):
            waiting += [function.func, *function.args, *function.keywords.values()]
        elif isinstance(function, FunctionType):
            yield function.__code__
            waiting += _named_in(function, type(part))
        elif not isinstance(function, type):
            yield f"uses an object of class {type(function).__name__} that is no part of it"


def _held(part: nn.Module) -> Iterator[Any]:
    """Yield what a module holds beside its parameters, buffers and submodules."""
    for name, value in vars(part).items():
        if name not in _FIELDS:
            inner = value.values() if isinstance(value, dict) else value
            yield from inner if isinstance(inner, list | tuple | set | ValuesView) else (value,)


def _named_in(function: FunctionType, kind: type) -> Iterator[Any]:
    """Yield what a function may mean by the names in its code, as far as they can be resolved."""
    code = function.__code__
    yield from (function.__globals__.get(name) for name in global_names(code))
    yield from (getattr(kind, name, None) for name in attribute_names(code))
    yield from closure_values(function)


def _is_known(function: Any) -> bool:
    """Return whether something callable is of torch, of this package, or built into Python."""
    if isinstance(function, nn.Module):  # reached by name instead of as a submodule: a tracer may not see it
        return False
    package = (getattr(function, "__module__", None) or "").split(".")[0]
    return package in _KNOWN or isinstance(function, BuiltinFunctionType)


def _telltale(code: CodeType | str) -> str | None:
    """Say what in some code could take another way under a tracer than on real images."""
    if isinstance(code, str):
        return code
    for part in nested_code(code):
        if part.co_exceptiontable:
            return "catches errors or opens a context"
        names = sorted(_TELLTALES.intersection(part.co_names))
        if names:
            return f"asks for {names[0]}"
    return None
