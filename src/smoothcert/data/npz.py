"""NumPy's archives of arrays (.npz), read member by member: nothing is unpickled, and no header is believed."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from smoothcert.data.files import MOST_DATA_BYTES
from smoothcert.errors import DataError
from smoothcert.reading import kind_of

ENDING = ".npz"
MOST_NPZ_BYTES = 2**33
"""Of one array, unpacked: what a machine of these days can hold beside a model."""
_MOST_PACKED = 100
"""How many times its file an archive may take unpacked, where that is more than `MOST_DATA_BYTES`: scans of letters get
to some ten, and zeros to a thousand."""
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def array_names(path: Path) -> tuple[str, ...]:
    """Return the names of the arrays in an archive, in the order of the file."""
    with _opened(path) as archive:
        return tuple(name.removesuffix(".npy") for name in archive.namelist())


def read_arrays(path: Path, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Read the arrays of these names that an archive holds; what is no plain array of numbers or text is refused.

    Args:
        path: the file.
        names: of arrays; those that are not there are left out.
    """
    wanted = set(names)
    with _opened(path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        chosen = {name: info for name, info in members.items() if name in wanted}
        _refuse_bomb(path, chosen.values())
        return {name: _read(path, archive, info, name) for name, info in chosen.items()}


def _opened(path: Path) -> zipfile.ZipFile:
    if kind_of(path) != "file":
        raise DataError(
            f"there is no file {path}; give the path of an .npz file with arrays images and labels"
        )
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DataError(
            f"{path} is no .npz file, or a damaged one ({error}); write it again with numpy.savez"
        ) from error


def _refuse_bomb(path: Path, members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse a small file that would be gigabytes in memory: a run that others made may name it.

    No member is read beyond the size that the archive says it has. How many bytes it says these take packed is not
    asked: that may be said of any, or the same ones may stand for several members.
    """
    size = sum(info.file_size for info in members)
    most = max(MOST_DATA_BYTES, _MOST_PACKED * path.stat().st_size)
    if size > most:
        raise DataError(
            f"{path} has {path.stat().st_size:,} bytes and would take {size:,} in memory, more than a file of images "
            f"does ({most:,}); if it is yours, write it again with numpy.savez, which does not pack"
        )


def _read(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
    try:
        with archive.open(info) as member:
            header = _HEADERS.get(npy.read_magic(member))
            if header is None:
                raise ValueError("its version is unknown")
            shape, by_columns, dtype = header(member)
            if dtype.kind not in "biufU":
                raise ValueError(
                    f"it is of dtype {dtype}, and nothing but numbers and text is read; nothing is unpickled"
                )
            size = math.prod(shape) * dtype.itemsize
            if not 0 <= size <= MOST_NPZ_BYTES:
                raise ValueError(f"it says that it has {size:,} bytes, and {MOST_NPZ_BYTES:,} is the most")
            # In the size of the archive first: a header of a few bytes could ask for all memory there is.
            if size > info.file_size:
                raise ValueError(f"it says that it has {size:,} bytes, but holds {info.file_size:,}")
            content = member.read(size)
            if len(content) != size:
                raise ValueError("it is cut short")
            return np.frombuffer(content, dtype=dtype).reshape(shape, order="F" if by_columns else "C")
    except Exception as error:  # a damaged archive fails in any of a dozen ways
        reason = " ".join(str(error).split())[:300]
        raise DataError(
            f"array {name} of {path} cannot be read: {reason}; write the file again with numpy.savez"
        ) from error
