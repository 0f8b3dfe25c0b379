"""The names that code reads: global variables, and attributes of whatever it holds."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType

_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


def global_names(code: CodeType) -> list[str]:
    """Return the global variables that code reads, functions inside it included, in alphabetical order."""
    return sorted(set(_names(code, _GLOBALS)))


def attribute_names(code: CodeType) -> list[str]:
    """Return the attributes that code reads of anything, functions inside it included, in alphabetical order."""
    return sorted(set(_names(code, _ATTRIBUTES)))


def _names(code: CodeType, operations: tuple[str, ...]) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in operations and isinstance(instruction.argval, str):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant, operations)
