"""Whatever holds numbers in rows and columns, as a tensor: tensors, arrays of any library, lists of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from smoothcert.errors import ModelOutputError
from smoothcert.visible import brief

_MOST_TOLD = 6  # parts of an answer that a message names


def array_of(value: Any) -> torch.Tensor | None:
    """Return a tensor, an array of numbers, or a list of numbers as a tensor; None for what is none of these.

    Arrays of other libraries are read by the array protocol (`__array__`) or by dlpack; lists by way of NumPy, because
    torch would read Python's numbers as float32. Not a copy where none is needed.
    """
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.ndarray):
        return _from_numpy(value, value)
    if is_of_numbers(value):
        return _from_numpy(_read(np.asarray, value), value)
    kind = type(value)
    if hasattr(kind, "__array__"):
        _refuse_other_columns(value)
        return _from_numpy(_read(np.asarray, value), value)
    return _read(from_dlpack, value) if hasattr(kind, "__dlpack__") else None


def is_of_numbers(value: Any) -> bool:
    """Return whether a list or tuple holds numbers and nothing else, or lists of them, as deep as they go."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(_is_number(part) or is_of_numbers(part) for part in value)


def told(value: Any) -> str:
    """Return what something is, in words: its type, its shape, and those of its parts."""
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(size, int) for size in shape):
        number = str(getattr(value, "dtype", "")).removeprefix("torch.")
        return f"{kind} of {number} and shape {tuple(shape)}" if number else f"{kind} of shape {tuple(shape)}"
    if isinstance(value, Mapping):
        return f"{kind} of {{{_told_parts([f'{key!r}: {told(part)}' for key, part in value.items()])}}}"
    if isinstance(value, list | tuple) and not is_of_numbers(value):
        return f"{kind} of ({_told_parts([told(part) for part in value])})"
    return f"{kind} of {len(value)} numbers or rows" if isinstance(value, list | tuple) else kind


def _refuse_other_columns(value: Any) -> None:
    """Refuse a table whose columns are called by numbers other than their places: columns are read by place."""
    columns = getattr(value, "columns", None)
    names = [] if columns is None else list(columns)
    numbers = [_number_of(name) for name in names]
    if any(number is not None for number in numbers) and numbers != list(range(len(names))):
        raise ModelOutputError(
            f"the model's answer, {told(value)}, has columns called {brief(names)}, which are not the classes 0 to "
            f"{len(names) - 1} in their order; let it return them in that order, as an array without names"
        )


def _number_of(name: Any) -> float | None:
    try:
        return float(name)
    except (TypeError, ValueError, OverflowError):
        return None


def _told_parts(parts: list[str]) -> str:
    more = len(parts) - _MOST_TOLD
    return ", ".join(parts[:_MOST_TOLD] + ([f"and {more} more"] if more > 0 else []))


def _is_number(value: Any) -> bool:
    single = isinstance(value, torch.Tensor | np.ndarray) and value.ndim == 0
    return single or isinstance(value, int | float | np.number | np.bool_)


def _read(how: Any, value: Any) -> Any:
    """Read an array by code of another library, or of the user's own, whose faults are not this package's."""
    try:
        return how(value)
    except Exception as error:
        raise ModelOutputError(
            f"the model's answer, {told(value)}, cannot be read as an array ({brief(error)}); "
            "let it return a tensor or a NumPy array of logits"
        ) from error


def _from_numpy(array: Any, given: Any) -> torch.Tensor | None:
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ModelOutputError(
            f"the model's answer, {told(given)}, has masked values, which are no logits; fill them in"
        )
    array = np.asarray(array)
    if array.dtype.kind not in "biufc":  # texts, dates or objects
        return None
    # torch takes neither foreign byte orders nor steps backwards, and warns of memory that it must not write to.
    if not array.dtype.isnative or min(array.strides, default=0) < 0 or not array.flags.writeable:
        array = array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
    tensor: torch.Tensor = _read(torch.from_numpy, array)
    return tensor
