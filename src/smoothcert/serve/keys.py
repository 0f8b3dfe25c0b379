"""API keys: several at once, so that one can be exchanged while the other is still in use."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable
from pathlib import Path

from smoothcert.errors import InvalidArgumentError
from smoothcert.reading import read_text

VARIABLE = "SMOOTHCERT_API_KEYS"
LEAST_LENGTH = 16
_MOST_BYTES = 2**20


class ApiKeys:
    """The keys that open the service; none where nobody named any.

    Only digests are held, and every one of them is compared each time, in constant time.

    Args:
        file: one key per line, `#` begins a comment; read again when it has changed. None for no file.
        named: keys from elsewhere, such as the environment.
    """

    def __init__(self, file: Path | None = None, named: Iterable[str] = ()) -> None:
        self._file = file
        self._named = [_digest(key, VARIABLE) for key in named]
        self._of_file: list[bytes] = []
        self._seen: tuple[int, int] | None = None
        self._read_again()
        if file is not None and not self._of_file:
            raise InvalidArgumentError(f"there is no key in {file}; write one per line, or leave --keys out")

    @classmethod
    def found(cls, file: Path | None) -> ApiKeys:
        """Return the keys of a file and of the environment."""
        return cls(file, filter(None, re.split(r"[\s,]+", os.environ.get(VARIABLE, ""))))

    def __bool__(self) -> bool:
        return bool(self._named or self._file is not None)

    def opens(self, given: str | None) -> bool:
        """Return whether a request may pass with this key; any may where there are no keys."""
        if not self:
            return True
        self._read_again()
        asked = hashlib.sha256((given or "").encode("utf-8", "replace")).digest()
        fits = False
        for known in (*self._named, *self._of_file):  # all of them, so that time tells nothing
            fits |= hmac.compare_digest(known, asked)
        return fits and given is not None

    def _read_again(self) -> None:
        if self._file is None:
            return
        try:
            status = self._file.stat()
            seen = (status.st_mtime_ns, status.st_size)
        except OSError:
            seen = (0, 0)
        if seen == self._seen:
            return
        try:
            lines = read_text(self._file, InvalidArgumentError, most=_MOST_BYTES).splitlines()
            keys = [line.partition("#")[0].strip() for line in lines]
            self._of_file = [_digest(key, str(self._file)) for key in keys if key]
            self._seen = seen
        except InvalidArgumentError:
            if self._seen is None:  # at the start; later, the keys that were read stay
                raise


def _digest(key: str, where: str) -> bytes:
    if len(key) < LEAST_LENGTH:
        raise InvalidArgumentError(
            f"a key in {where} has {len(key)} characters, and {LEAST_LENGTH} is the least; make one with "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
