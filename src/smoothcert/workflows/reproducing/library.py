"""The papers' tables that can be made again, by the names of their files."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.folders import first_fault
from smoothcert.reading import read_text
from smoothcert.training import parse_yaml
from smoothcert.visible import brief
from smoothcert.workflows.reproducing.table_file import TableFile

_ENDING = ".yaml"
_MOST_BYTES = 2**18


def table_names() -> tuple[str, ...]:
    """Return the names of all tables that come with the package, sorted."""
    return tuple(_files())


def load_table(name: str) -> TableFile:
    """Return a table by its name, or from a file of one's own.

    Args:
        name: a name from `table_names`, or the path of a YAML file.
    """
    if not isinstance(name, str):
        raise InvalidArgumentError(
            f"a table is asked for by its name or path, got {brief(name)}; give a text"
        )
    if name.endswith(_ENDING):
        path = Path(name)
        return _parsed(read_text(path, InvalidArgumentError, most=_MOST_BYTES), path.stem)
    if name not in _files():
        raise UnknownNameError(f"unknown table {brief(name)}; known: {', '.join(_files())}")
    return _parsed(_files()[name].read_text("utf-8"), name)


def _parsed(text: str, name: str) -> TableFile:
    content = parse_yaml(text, f"table {name!r}")
    if not isinstance(content, dict):
        raise InvalidArgumentError(
            f"table {name!r} must be a table of settings, got {type(content).__name__}"
        )
    try:
        return TableFile.model_validate({"name": name, **content})
    except ValidationError as error:
        raise InvalidArgumentError(f"table {name!r}: {first_fault(error)}") from error


@cache
def _files() -> dict[str, Any]:
    """Return the files by name; they do not change while the program runs."""
    folder = (resources.files("smoothcert.workflows.reproducing") / "tables").iterdir()
    files = {entry.name.removesuffix(_ENDING): entry for entry in folder if entry.name.endswith(_ENDING)}
    return dict(sorted(files.items()))
