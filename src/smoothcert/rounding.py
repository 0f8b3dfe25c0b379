"""Numbers as decimals that are never above what was proven."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal, localcontext


def floor_digits(value: float, digits: int = 6) -> str:
    """Return a radius rounded down to `digits` decimals, so that reading it back never gives a larger one."""
    with localcontext(prec=400):  # enough for every float
        return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_FLOOR))
