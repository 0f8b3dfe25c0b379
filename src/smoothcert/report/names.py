"""Names of runs and logs as figures and tables show them: as short as tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smoothcert.errors import InvalidArgumentError


def named_paths(given: Sequence[Path]) -> dict[str, Path]:
    """Return paths by name; `NAME=PATH` gives the name, else it is the end of the path that no other one has.

    Args:
        given: run folders and logs, as a person wrote them; a path that exists is never taken apart.
    """
    chosen = [_parted(path) for path in given]
    free = [path for name, path in chosen if name is None]
    named: dict[str, Path] = {}
    for name, path in chosen:
        shown = _shortest(path, free) if name is None else name
        if shown in named:
            raise InvalidArgumentError(
                f"two runs are called {shown!r}; give each once, or name them: NAME=PATH"
            )
        named[shown] = path
    return named


def _parted(path: Path) -> tuple[str | None, Path]:
    name, sign, place = str(path).partition("=")
    return (name, Path(place)) if sign and name and place and not path.exists() else (None, path)


def _shortest(path: Path, others: Sequence[Path]) -> str:
    """Return the last parts of a path, as many as it takes to tell it from the others."""
    parts = path.parts
    for count in range(1, len(parts)):
        if sum(other.parts[-count:] == parts[-count:] for other in others) == 1:
            return str(Path(*parts[-count:]))
    return str(path)
