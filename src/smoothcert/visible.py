"""Names and values as text: what others wrote cannot steer, or flood, the terminal it is shown on."""

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


def brief(value: object, most: int = 200) -> str:
    """Return a value as an error message quotes it: its `repr`, cut where it is long.

    Never fails, and never writes out a million numbers.

    Args:
        value: anything that was handed in.
        most: characters.
    """
    if isinstance(value, list | tuple | set | frozenset | dict) and len(value) > most:
        return f"a {type(value).__name__} of {len(value):,}"
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits, or a class that cannot say what it is
        return f"a value of type {type(value).__name__} that cannot be written out"
    return text if len(text) <= most else f"{text[:most]}.. ({len(text):,} characters)"
