"""Reading pickles of arrays and plain containers without running anything they name.

A pickle is a program that may call any function it can name. Here the few names that array pickles of NumPy 1
and 2 use (protocols 0 to 5) are answered by stand-ins that only write down what they were called with; every other
name is refused before anything is called. The arrays are then made from their bytes.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.files import MOST_DATA_BYTES
from smoothcert.errors import DataError
from smoothcert.reading import read_bytes

_KINDS = "biuf"  # truth values, integers and floats: types whose values cannot hold an object


class _StandIn:
    """Answers for one global name of a pickle; can be called, and not be changed."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Callable[..., object]) -> None:
        self._answer = answer

    def __call__(self, *args: object) -> object:
        return self._answer(*args)

    def __setstate__(self, state: object) -> None:
        raise DataError("it tries to change a function")


class _Type:
    """A NumPy type as a pickle describes it: a name such as "u1", and later its byte order."""

    __slots__ = ("_name", "_order")

    def __init__(self, name: str | bytes, *flags: object) -> None:
        self._name, self._order = _text(name), "|"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, order, *rest = state
        if any(part is not None for part in rest[:3]):
            raise DataError("it holds an array of records")
        self._order = _text(order)

    def make(self) -> np.dtype[Any]:
        """Return the NumPy type if it is a number's."""
        if len(self._name) not in (2, 3) or self._name[0] not in _KINDS or not self._name[1:].isdigit():
            raise DataError(f"it holds an array of type {self._name!r}")
        if self._order not in ("|", "<", ">", "="):
            raise DataError(f"it holds an array of byte order {self._order!r}")
        return np.dtype(self._order.replace("|", "") + self._name)


class _Array:
    """An array as a pickle describes it: shape, type, order of axes and bytes."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: object) -> None:
        self._parts = parts

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, is_fortran, raw = state
        self._parts = (raw, kind, shape, "F" if is_fortran else "C")

    def make(self) -> NDArray[Any]:
        """Return the array; its bytes must fill its shape exactly."""
        if len(self._parts) != 4:
            raise DataError("it holds an array without content")
        raw, kind, shape, order = self._parts
        if (
            not isinstance(raw, bytes | bytearray)
            or not isinstance(kind, _Type)
            or not isinstance(shape, tuple)
        ):
            raise DataError("it holds an array whose content is not plain bytes")
        dtype = kind.make()
        if not all(isinstance(side, int) and side >= 0 for side in shape):
            raise DataError(f"it holds an array of shape {shape}")
        if math.prod(shape) * dtype.itemsize != len(raw):
            raise DataError(f"it holds {len(raw)} bytes for an array of shape {shape}")
        return np.frombuffer(raw, dtype).reshape(shape, order="F" if _text(order) == "F" else "C")


def _text(value: object) -> str:
    """Return text; pickles of Python 2 hold it as bytes."""
    if isinstance(value, bytes):
        return value.decode("latin1")
    if not isinstance(value, str):
        raise DataError(f"it has {type(value).__name__} where a name belongs")
    return value


def _empty_bytes(*args: object) -> bytes:
    if args:
        raise DataError("it makes bytes of something")
    return b""


_ARRAY_CLASS = _StandIn(_Array)
_STAND_INS: dict[tuple[str, str], _StandIn] = {
    ("numpy", "ndarray"): _ARRAY_CLASS,
    ("numpy", "dtype"): _StandIn(_Type),
    ("__builtin__", "bytes"): _StandIn(_empty_bytes),
    ("builtins", "bytes"): _StandIn(_empty_bytes),
}
for _core in ("numpy.core", "numpy._core"):
    # _reconstruct(class, (0,), b"b") is an empty array that BUILD fills; _frombuffer gets all parts at once.
    _STAND_INS[f"{_core}.multiarray", "_reconstruct"] = _StandIn(lambda *_: _Array())
    _STAND_INS[f"{_core}.numeric", "_frombuffer"] = _ARRAY_CLASS


class _Unpickler(pickle.Unpickler):
    """Pickle's reader, with every global name but the known ones refused.

    Args:
        content: the pickle.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), fix_imports=False, encoding="bytes")
        self._left = len(content)  # characters that may still be encoded: each was written down once

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in of a known name; nothing is imported."""
        if (module, name) == ("_codecs", "encode"):
            return _StandIn(self._encode)
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise DataError(f"it names {module}.{name}, which has no place in arrays and lists") from None

    def _encode(self, text: object, encoding: object = "latin1") -> bytes:
        """Return the bytes that pickles below protocol 3 keep as text."""
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "iso-8859-1"):
            raise DataError("it encodes something else than bytes kept as text")
        self._left -= len(text)
        if self._left < 0:
            raise DataError("it encodes one text again and again")
        return text.encode("latin1")


def read_pickle(path: Path) -> dict[str, Any]:
    """Read a pickled dictionary of arrays and plain values; anything else in it raises `DataError`.

    Not `pickle.load`: nothing the file names is imported or called. Keys become text, arrays are read-only, and
    only arrays that are values of the dictionary itself are made.

    Args:
        path: the file.
    """
    try:
        content = read_bytes(path, DataError, most=MOST_DATA_BYTES)
        _refuse_odd_steps(content)
        values = _Unpickler(content).load()
        if not isinstance(values, dict):
            raise DataError(f"it holds no dictionary but {type(values).__name__}")
        return {_text(key): _value(value) for key, value in values.items()}
    except DataError as error:
        raise DataError(
            f"{path} is not read: {error}; get the file again from where it is published"
        ) from None
    except Exception as error:  # a damaged pickle fails in any of a dozen ways
        raise DataError(f"{path} is cut short or no pickle ({error}); get the file again") from error


def _value(value: object) -> object:
    """Return the array that a value describes, or the plain value."""
    if isinstance(value, _Array):
        return value.make()
    if isinstance(value, _StandIn | _Type):
        raise DataError("it holds a function or a type")
    return value


def _refuse_odd_steps(content: bytes) -> None:
    """Refuse steps that no writer of arrays takes, before any is taken.

    A value noted at a far place makes the reader provide all places before it. Tuples in tuples, as the key of a
    dictionary, take time that doubles with each level, and many levels overflow the stack.
    """
    tuples = 0
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name in _PUTS and isinstance(argument, int) and argument > len(content):
            raise DataError(f"it keeps a value at place {argument} of a list that it cannot fill")
        tuples += opcode.name in _NESTS
        if tuples > _MOST_TUPLES:
            raise DataError(f"it holds more than {_MOST_TUPLES} tuples, where a batch has some six per array")


_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
_NESTS = frozenset({"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "FROZENSET"})
_MOST_TUPLES = 24
