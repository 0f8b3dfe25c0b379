"""Names as text: what others wrote cannot steer the terminal it is shown on."""

from __future__ import annotations


def visible(text: str) -> str:
    """Return text with every character that cannot be seen as its escape, such as \\x1b, on one line.

    Control characters, line ends, marks that turn the direction of writing, and the half characters of file names
    that are no UTF-8. Not a quotation: backslashes stay as they are, and it is meant to be read, not parsed.
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
