"""Paths of the command line: what names no place is refused where it is read.

By `StoreError`, because the parser of options takes every ValueError for its own and frames it in a usage text.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from smoothcert.errors import StoreError


def path_option(*names: str, text: str, panel: str | None = None) -> Any:
    """Return an option that takes a path.

    Args:
        names: of the option, such as "-o", "--output"; errors use the last.
        text: its help.
        panel: heading of its part of the help.
    """
    read = _reader(names[-1])
    return typer.Option(*names, parser=read, metavar="PATH", help=text, rich_help_panel=panel)


def folder_option(*names: str, text: str, panel: str | None = None) -> Any:
    """Return an option that takes a folder to write to, which need not be there yet.

    Args:
        names: of the option; errors use the last.
        text: its help.
        panel: heading of its part of the help.
    """
    read = _reader(names[-1])

    def folder(text: str | Path) -> Path:
        path = read(text)
        try:
            # What stands there, or above it, before hours of work are done for it.
            blocked = next((place for place in (path, *path.parents) if os.path.lexists(place)), None)
            if blocked is not None and not blocked.is_dir():
                raise StoreError(f"{names[-1]}: {blocked} is a file; choose a folder")
            path.lstat()
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise StoreError(f"{names[-1]} {path} cannot be a folder: {reason}") from error
        return path

    return typer.Option(*names, parser=folder, metavar="PATH", help=text, rich_help_panel=panel)


def path_argument(name: str, text: str) -> Any:
    """Return an argument that takes a path, or several.

    Args:
        name: as it is shown, such as MODEL.
        text: its help.
    """
    return typer.Argument(parser=_reader(name.rstrip(".")), metavar=name, help=text)


def _reader(name: str) -> Callable[[str | Path], Path]:
    def path(text: str | Path) -> Path:
        # An empty path is the current folder to the system, which nobody who leaves a variable unset means.
        if not str(text).strip():
            raise StoreError(f"{name} is empty; give a path, or . for the current folder")
        if "\0" in str(text):
            raise StoreError(f"{name} holds a null character, which no path has: {str(text)!r}")
        return Path(text)

    return path
