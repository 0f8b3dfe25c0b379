"""Long texts in lines that fit the terminal."""

from __future__ import annotations

import shutil
import textwrap

_WIDEST = 100  # longer lines are hard to read, however wide the terminal is
_NARROWEST = 40


def hanging(text: str, *, first: str, rest: str) -> str:
    """Return text in lines no wider than the terminal, 100 characters at most.

    Options such as --set are not taken apart. Not for names from files: what cannot be seen is not made visible.

    Args:
        text: one paragraph.
        first: stands before the first line.
        rest: stands before the others.
    """
    width = min(max(shutil.get_terminal_size((_WIDEST, 24)).columns, _NARROWEST), _WIDEST)
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
        break_long_words=False,
    )
