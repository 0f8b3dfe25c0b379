"""YAML within limits: a text of some kilobytes can say a thing a thousand million times, or nest it without end."""

from __future__ import annotations

from typing import Any

import yaml

from smoothcert.errors import InvalidArgumentError

MOST_YAML_BYTES = 2**16
"""Of a recipe; those that come with the package have under two kilobytes."""
_MOST_DEPTH = 16
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same rules, in C, ten times as fast
_MOST_NODES = 5_000  # with every alias counted as what it stands for


def parse_yaml(text: str, where: str) -> Any:
    """Return what a YAML text says; refuse deep nesting, aliases that multiply, and numbers of thousands of digits.

    Not a loader of objects: tags that name types of Python are refused.

    Args:
        text: one document.
        where: named in the error.
    """
    try:
        _refuse_size(text)
        return yaml.load(text, _LOADER)
    except Exception as error:
        # A date of a 99th month, or a tag that does not fit, fails in any of a dozen ways.
        reason = " ".join(str(error).split())[:300]
        raise InvalidArgumentError(f"{where} is no YAML: {reason}") from error


def _refuse_size(text: str) -> None:
    """Go through the text without building anything, and count what would be built."""
    sizes: dict[str, int] = {}  # of what aliases stand for
    opened: list[
        tuple[str | None, int]
    ] = []  # anchors of the lists and tables around, and where their count began
    count = 0
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise ValueError(
                    f"the alias {event.anchor!r} stands for nothing, or for what it is inside of"
                )
            count += sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, count))
            sizes.pop(str(event.anchor), None)
            count += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor is not None:
                sizes[anchor] = count - before
        if len(opened) > _MOST_DEPTH:
            raise ValueError(f"nested more than {_MOST_DEPTH} deep")
        if count > _MOST_NODES:
            raise ValueError(f"more than {_MOST_NODES:,} values, counting what aliases stand for")
