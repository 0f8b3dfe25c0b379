"""The certificates kept since the start, in a file without a name: memory does not grow with them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

_BYTES = 16  # of a name
_TOGETHER = 4_096  # names


class KeptNames:
    """Names of certificates that one engine made, for the day on which it is found out. Used by one thread.

    Not a record: it is gone with its process, as what it is for.

    Args:
        folder: on whose disk the file is, which no other process can open.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # for as long as the service lives

    def add(self, name: str) -> None:
        """Note a certificate; one that is noted twice is told twice."""
        self._file.seek(0, os.SEEK_END)
        self._file.write(bytes.fromhex(name))

    def __iter__(self) -> Iterator[str]:
        """Yield the names, in their order."""
        self._file.seek(0)
        while block := self._file.read(_BYTES * _TOGETHER):
            for first in range(0, len(block), _BYTES):
                yield block[first : first + _BYTES].hex()

    def close(self) -> None:
        """Forget all of them."""
        self._file.close()
