"""Files of tensors as others wrote them: torch's own formats and safetensors, read without running anything.

A torch file holds a pickle, which is a program. `torch.load(weights_only=True)` answers only the names that plain
tensors and containers need; whatever else a file names is refused before it is called.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch.serialization import safe_globals

from smoothcert.errors import CheckpointError
from smoothcert.folders.weights_file import open_weights
from smoothcert.reading import read_start
from smoothcert.visible import brief

_GET_AGAIN = "get the file again"
_SAVE_AGAIN = (
    "if you trust it, load it where it was made and save torch.save({'state_dict': model.state_dict()}, FILE)"
)


class Unread:
    """Stands for a NumPy number or array of a pickle: it takes what belongs to one, and keeps none of it.

    NumPy itself is not let in, because its way back from a pickle can make objects of any kind.
    """

    def __new__(cls, *_: Any) -> Unread:
        """Make one of anything, also where the pickle calls no constructor."""
        return super().__new__(cls)

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        pass


_NUMPY: list[Callable[..., Any] | tuple[Callable[..., Any], str]] = [
    (Unread, "numpy.dtype"),
    (Unread, "numpy.ndarray"),
    *(
        (Unread, f"numpy.{core}.multiarray.{name}")
        for core in ("core", "_core")
        for name in ("scalar", "_reconstruct")
    ),
]


def read_tensors_file(path: Path) -> Any:
    """Return what a checkpoint file holds: tensors, containers and plain values; `CheckpointError` says what is wrong.

    Not the tensors' memory: those of today's torch files stay on the disk until they are used.

    Args:
        path: a torch file of any age, or a safetensors file.
    """
    start = read_start(path, CheckpointError, 16)
    if start[:4] == b"PK\x03\x04":
        _refuse_odd_archive(path)
        return _loaded(path, mmap=True)
    if start[:1] == b"\x80":
        return _loaded(path, mmap=False)
    if start[8:9] == b"{":
        return open_weights(path, fix=_GET_AGAIN).tensors()
    what = "a web page, no file" if start.lstrip()[:1] == b"<" else f"it begins with {start[:8].hex()}"
    raise CheckpointError(
        f"{path} is no checkpoint of torch or safetensors ({'it is empty' if not start else what}); {_GET_AGAIN}"
    )


def _loaded(path: Path, *, mmap: bool) -> Any:
    try:
        with warnings.catch_warnings(), safe_globals(_NUMPY):
            warnings.simplefilter("ignore")  # about how old the file is
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mmap)
    except (Exception, MemoryError) as error:  # a damaged file fails in any of a dozen ways
        named = re.search(r"GLOBAL ([\w.]+)", str(error))
        if named is not None:
            raise CheckpointError(
                f"{path} is not read: its pickle names {named[1][:100]}, which is no tensor and could run code; "
                f"{_SAVE_AGAIN}"
            ) from None
        # What torch says before its reason advises to read the file unsafely.
        reason = brief(" ".join(str(error).split("WeightsUnpickler error:")[-1].split("\n")[0].split()), 160)
        if isinstance(error, UnpicklingError) and "reduce" in reason:
            raise CheckpointError(f"{path} is not read: its pickle calls a function; {_SAVE_AGAIN}") from None
        reason = reason if len(reason) > 2 else type(error).__name__
        raise CheckpointError(f"{path} is cut short or no checkpoint ({reason}); {_GET_AGAIN}") from None


def _refuse_odd_archive(path: Path) -> None:
    """Refuse an archive without a checkpoint in it, or one that unpacks to more bytes than it has."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise CheckpointError(f"{path} is cut short or no checkpoint ({error}); {_GET_AGAIN}") from None
    if not any(part.filename.endswith("/data.pkl") for part in parts):
        raise CheckpointError(f"{path} is an archive and no checkpoint; unpack it and give the file inside")
    if any(part.compress_type != zipfile.ZIP_STORED for part in parts) or (
        sum(part.file_size for part in parts) > path.stat().st_size
    ):
        raise CheckpointError(
            f"{path} is packed, which torch's files never are: it could unpack to any size; {_SAVE_AGAIN}"
        )
