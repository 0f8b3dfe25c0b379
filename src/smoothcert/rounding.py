"""Numbers as decimals that claim no more than what was proven."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext


def floor_digits(value: float, digits: int = 6) -> str:
    """Return a radius rounded down to `digits` decimals, so that reading it back never gives a larger one."""
    return _rounded(value, digits, ROUND_FLOOR)


def ceil_digits(value: float, digits: int = 6) -> str:
    """Return an upper end rounded up to `digits` decimals, so that reading it back never gives a smaller one."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, direction: str) -> str:
    with localcontext(prec=400):  # enough for every float
        return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), rounding=direction))
