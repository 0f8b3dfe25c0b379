"""The public names as directives that let mkdocstrings write each with its sentence and its arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import smoothcert as sc

_ROW = re.compile(r"^\| (?P<what>[^|]+?) \| (?P<names>(?:`\w+` ?)+)", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def python_reference(page: str) -> str:
    """Return the page with its table of names and, behind it, a section for each row and an entry for each name."""
    sections = [line for row in _ROW.finditer(page) for line in _section(row["what"], row["names"])]
    return "\n".join([_TABLE.sub(_linked, page, count=1), *sections])


def place_of(thing: Any) -> str:
    """Return the dotted place where a class or function is written, which is what static analysis finds."""
    return f"{thing.__module__}.{thing.__qualname__}"


def _linked(table: re.Match[str]) -> str:
    return re.sub(
        r"`(\w+)`", lambda name: f"[`{name[1]}`](#{name[1]})" if name[1] in sc.__all__ else name[0], table[0]
    )


def _section(what: str, names: str) -> Iterator[str]:
    place = what.replace(" ", "-").replace("'", "")  # "certify" is a name's own
    yield f"\n## {what[:1].upper()}{what[1:]} {{ #for-{place} }}\n"
    for name in re.findall(r"\w+", names):
        yield from _entry(name)


def _entry(name: str) -> Iterator[str]:
    thing = getattr(sc, name)
    if not inspect.ismodule(thing):
        yield f'\n<a id="{name}"></a>\n'
        yield _directive(thing, name, level=3)
        return
    yield f"\n### {name} {{ #{name} }}\n"
    yield f"{(inspect.getdoc(thing) or '').splitlines()[0]}\n"
    for member in getattr(thing, "__all__", None) or _classes(thing):
        found = getattr(thing, member)
        if inspect.isclass(found) or inspect.isfunction(found):
            yield _directive(found, f"{name}.{member}", level=4)


def _classes(module: Any) -> list[str]:
    return [
        name
        for name, thing in vars(module).items()
        if inspect.isclass(thing) and thing.__module__ == module.__name__
    ]


def _directive(thing: Any, heading: str, level: int) -> str:
    return (
        f'\n::: {place_of(thing)}\n    options:\n      heading: "{heading}"\n      heading_level: {level}\n'
    )
