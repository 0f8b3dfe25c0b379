"""What a function's code refers to: names it reads, functions inside it, values it closes over."""

from __future__ import annotations

import contextlib
import dis
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from torch import nn

_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


def nested_code(code: CodeType) -> Iterator[CodeType]:
    """Yield code and the code of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_code(constant)


def global_names(code: CodeType) -> list[str]:
    """Return the global variables that code reads, functions inside it included, in alphabetical order."""
    return _names(code, _GLOBALS)


def attribute_names(code: CodeType) -> list[str]:
    """Return the attributes that code reads of anything, functions inside it included, in alphabetical order."""
    return _names(code, _ATTRIBUTES)


def closure_values(function: FunctionType) -> list[Any]:
    """Return the values that a function closes over."""
    values = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # a cell that was never filled
            values.append(cell.cell_contents)
    return values


def _names(code: CodeType, operations: tuple[str, ...]) -> list[str]:
    return sorted(
        {
            str(instruction.argval)
            for part in nested_code(code)
            for instruction in dis.get_instructions(part)
            if instruction.opname in operations
        }
    )


def held_modules(function: Any) -> list[nn.Module]:
    """Return the torch modules that a function closes over, names as global variables, is a method of, or holds.

    Not all that it could reach: for a hint, nothing more.
    """
    if isinstance(function, partial):
        held = [function.func, *function.args, *function.keywords.values()]
    elif isinstance(function, MethodType):
        held = [function.__self__]
    elif isinstance(function, FunctionType):
        known = function.__globals__
        named = [known[name] for name in global_names(function.__code__) if name in known]
        held = [*closure_values(function), *named, *(function.__defaults__ or ())]
    else:
        held = list(vars(function).values()) if hasattr(function, "__dict__") else []
    return list({id(part): part for part in held if isinstance(part, nn.Module)}.values())
