"""Numbers of things in sentences: one image, two images, every third of them."""

from __future__ import annotations

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def amount(count: int, noun: str) -> str:
    """Return a number with what it counts, such as "1 image" and "2,000 images".

    Args:
        count: how many.
        noun: of one, with a plural in -s.
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def ordinal(number: int) -> str:
    """Return a place in a row, such as "3rd" and "11th"."""
    ending = "th" if number % 100 in (11, 12, 13) else _ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"
