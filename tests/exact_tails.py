"""Binomial tails to fifty digits, by no function that the bounds themselves are made of."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
_STIRLING = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156))


def log_factorial(n: int) -> Decimal:
    """ln n!, exact for small n, by Stirling's series (error below 1e-30) from 200 on."""
    if n < 200:
        return Decimal(math.factorial(n)).ln()
    d = Decimal(n)
    rest = sum(Decimal(a) / (b * d ** (2 * i + 1)) for i, (a, b) in enumerate(_STIRLING))
    return d * d.ln() - d + (2 * _PI * d).ln() / 2 + rest


def log_tail_over(k: int, n: int, p: Decimal, alpha: float) -> float:
    """ln(P(X >= k) / alpha) for X of Binomial(n, p), good to about 1e-15; for tails to the right of the mode.

    The first probability in fifty digits; those after it as shares of it, which fall, in long doubles.
    """
    with localcontext() as context:
        context.prec = 50
        q = 1 - p
        first = log_factorial(n) - log_factorial(k) - log_factorial(n - k)
        first += (k * p.ln() if k else 0) + ((n - k) * q.ln() if n > k else 0)
        reach = int(60 * math.sqrt(n * float(p) * float(q)) + 400)
        after = np.arange(k, min(n, k + reach), dtype=np.longdouble)
        shares = np.cumprod((n - after) / (after + 1) * np.longdouble(str(p / q)))
        total = Decimal(str(1 + shares.sum()))
        return float(first + total.ln() - Decimal(alpha).ln())


def lower_excess(k: int, n: int, bound: float, alpha: float) -> float:
    """Above 0 if a lower bound is above the exact one: then k or more are likelier than alpha at the bound."""
    return log_tail_over(k, n, Decimal(bound), alpha)


def upper_excess(k: int, n: int, bound: float, alpha: float) -> float:
    """Above 0 if an upper bound is below the exact one: then k or fewer are likelier than alpha at the bound."""
    with localcontext() as context:
        context.prec = 50
        return log_tail_over(n - k, n, 1 - Decimal(bound), alpha)
