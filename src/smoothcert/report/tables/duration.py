"""Times in words: seconds to days, in the unit that suits them."""

from __future__ import annotations

_UNITS = (("days", 86_400.0, 2 * 86_400.0), ("h", 3_600.0, 7_200.0), ("min", 60.0, 120.0), ("s", 1.0, 0.0))
"""Name, seconds, and from how many seconds on it is used."""


def show_duration(seconds: float) -> str:
    """Return a time such as "1.5 s", "12 min" or "70 days"."""
    number, unit = _parts(seconds, seconds)
    return f"{number} {unit}"


def show_range(low: float, high: float) -> str:
    """Return a range of times such as "12 to 50 min", each in a unit of its own where they differ much."""
    fewest, unit = _parts(low, high) if low * 20 >= high else _parts(low, low)
    most, last = _parts(high, high)
    if (fewest, unit) == (most, last):
        return f"{most} {last}"
    return f"{fewest} to {most} {last}" if unit == last else f"{fewest} {unit} to {most} {last}"


def _parts(seconds: float, by: float) -> tuple[str, str]:
    """Return a time as number and unit, in the unit that suits `by`."""
    name, size, _ = next(unit for unit in _UNITS if by >= unit[2])
    number = seconds / size
    return (f"{number:,.0f}" if number >= 10 else f"{number:.1f}"), name
