"""Numeric arrays of version 5 .mat files, read within limits: what a file claims is compared with what it has.

Not a reader of structures, cells or sparse matrices: such variables are passed over. A compressed variable is unpacked
as far as its own header says, and that is refused beyond a limit.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import DataError
from smoothcert.reading import read_bytes
from smoothcert.visible import brief

_HEADER = 128  # bytes; the last four are the version and the order of bytes
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TYPES |= {16: "u1", 17: "u2", 18: "u4"}  # texts, as the numbers of their characters
_MOST_AXES = 8
_OTHERS = frozenset({1, 2, 3, 5})  # cells, structures, objects and sparse matrices: no array of numbers


def read_mat(path: Path, *, most: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a .mat file by name; `DataError` says what is wrong with it.

    Args:
        path: the file.
        most: bytes that it may have, and each variable unpacked.
    """
    content = memoryview(read_bytes(path, DataError, most=most))
    if len(content) < _HEADER or bytes(content[124:128]) not in (b"\x00\x01IM", b"\x01\x00MI"):
        raise DataError("it does not begin as one")
    order = "<" if bytes(content[126:128]) == b"IM" else ">"
    variables: dict[str, NDArray[Any]] = {}
    for kind, body in _elements(content[_HEADER:], order):
        if kind == _COMPRESSED:
            kind, body = _unpacked(body, order, most)
        if kind == _MATRIX and (variable := _variable(body, order)) is not None:
            variables[variable[0]] = variable[1]
    return variables


def _elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield type and content of the elements that lie one after the other; refuse one that is cut short."""
    place = 0
    while place < len(content):
        if len(content) - place < 8:
            raise DataError("it is cut short")
        kind, size = struct.unpack_from(f"{order}II", content, place)
        if kind >> 16:  # a small element: size and type share four bytes, the content is in the other four
            kind, size = kind & 0xFFFF, kind >> 16
            start, after = place + 4, place + 8
        else:
            start = place + 8
            # Elements begin at multiples of eight bytes, but for what follows a compressed one.
            after = start + size + (-size % 8 if kind != _COMPRESSED else 0)
        if size > (4 if after == place + 8 and start == place + 4 else len(content) - start):
            raise DataError(f"it is cut short: an element claims {size} bytes")
        yield kind, content[start : start + size]
        place = after


def _unpacked(body: memoryview, order: str, most: int) -> tuple[int, memoryview]:
    """Return the element inside a compressed one, unpacked as far as it claims to go."""
    stream = zlib.decompressobj()
    try:
        tag = stream.decompress(body, 8)
        kind, size = struct.unpack(f"{order}II", tag) if len(tag) == 8 else (0, 0)
        if size > most:
            raise DataError(f"a variable claims {size:,} bytes, and {most:,} is the most")
        inner = stream.decompress(stream.unconsumed_tail, size) if size else b""
    except zlib.error as error:
        raise DataError(f"it is damaged: {error}") from error
    if len(inner) != size:
        raise DataError("a compressed variable is cut short")
    return kind, memoryview(inner)


def _variable(body: memoryview, order: str) -> tuple[str, NDArray[Any]] | None:
    """Return name and array of a matrix element: flags, axes, name and numbers; None if it is no array of numbers."""
    parts = _elements(body, order)
    flags, axes, name = (next(parts, (0, memoryview(b"")))[1] for _ in range(3))
    if len(flags) < 4 or len(axes) % 4:
        raise DataError("a variable has no flags or axes")
    if struct.unpack_from(f"{order}I", flags)[0] & 0xFF in _OTHERS:
        return None
    shape = struct.unpack(f"{order}{len(axes) // 4}i", axes)
    kind, raw = next(parts, (0, memoryview(b"")))
    if kind not in _TYPES or not 1 <= len(shape) <= _MOST_AXES or min(shape) < 0:
        raise DataError(f"a variable has type {kind} and shape {brief(shape)}")
    dtype = np.dtype(order + _TYPES[kind])
    if math.prod(shape) * dtype.itemsize != len(raw):
        raise DataError(f"a variable of shape {brief(shape)} has {len(raw)} bytes")
    return bytes(name).decode("latin-1"), np.frombuffer(raw, dtype).reshape(shape, order="F")
