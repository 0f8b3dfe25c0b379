"""Clopper-Pearson: exact one-sided bounds on a probability from a fixed number of votes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, xlog1py, xlogy

from smoothcert.arguments import is_number
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

MOST_TRIALS = 10**8
"""Beyond it the inverse incomplete beta function has not been held against exact tails."""

# Relative shave in the safe direction. The inverse incomplete beta function is good to about 1e-13 in p at moderate
# numbers of trials, so this covers its error a hundred times over and costs nothing one could print.
_SHAVE = 1e-11
# By trial: for counts below half of the trials the function's error grows with these, to 3.6e-17 for each.
_SHAVE_BY_TRIAL = 8e-17
_MODERATE = 10**6  # up to here an upper bound above a half is good without it
_TRIES = 64  # a shave doubled so often is more than p itself
_LEAST = 1e-100

Floats = NDArray[np.float64]


def clopper_pearson_lower(successes: ArrayLike, trials: ArrayLike, alpha: float) -> Any:
    """Return p_L with P(p_L > p) <= alpha whatever p is; 0 at no successes. Never rounded up.

    Not anytime-valid: looking at it repeatedly as votes come in breaks the guarantee.

    Args:
        successes: votes for the class, 0 <= successes <= trials; a number or an array.
        trials: votes drawn, >= 1; a number or an array.
        alpha: one-sided error probability, in (0, 1).

    Example:
        >>> round(clopper_pearson_lower(99_000, 100_000, alpha=0.001), 6)
        0.988989
    """
    k, n = _checked(successes, trials, alpha)
    a, b = np.maximum(k, 1), n - k + 1
    shave = _shave(n, 2 * k < n)
    bound = _outward(betaincinv(a, b, alpha), lambda p: betainc(a, b, p), alpha, a, b, -shave)
    bound = np.where(k == 0, 0.0, bound)
    return float(bound) if bound.ndim == 0 else bound


def clopper_pearson_upper(successes: ArrayLike, trials: ArrayLike, alpha: float) -> Any:
    """Return p_U with P(p_U < p) <= alpha whatever p is; 1 when all succeed. Never rounded down.

    Arguments as for `clopper_pearson_lower`.
    """
    k, n = _checked(successes, trials, alpha)
    a, b = k + 1, np.maximum(n - k, 1)
    shave = _shave(n, (2 * k < n) | (n > _MODERATE))
    bound = _outward(betainccinv(a, b, alpha), lambda p: betaincc(a, b, p), alpha, a, b, shave)
    bound = np.where(k == n, 1.0, np.minimum(bound, 1.0))
    return float(bound) if bound.ndim == 0 else bound


def check_level(name: str, value: float) -> None:
    """Refuse an error probability outside (0, 1)."""
    if not is_number(value, _LEAST, below=1, numpy=True):
        raise InvalidArgumentError(
            f"{name} is an error probability and must lie strictly between 0 and 1 (0.001 is usual; below "
            f"{_LEAST:g} the arithmetic is not to be trusted), got {brief(value)}"
        )


def _shave(n: Floats, grows: NDArray[np.bool_]) -> Floats:
    """Return the relative shave; where the function's error grows with the trials, so does the shave."""
    return np.where(grows, np.maximum(_SHAVE, _SHAVE_BY_TRIAL * n), _SHAVE)


def _outward(
    guess: Floats, tail: Callable[[Floats], Floats], alpha: float, a: Floats, b: Floats, shave: Floats
) -> Floats:
    """Move a quantile of Beta(a, b) outward by its shave, and correct it where half of that is not enough.

    The inverse function has holes (where a or b is 1000 it is wrong, by percents of p at 1e8 trials); the tail
    itself has none. So it is asked about the answer, and where it says more than alpha, Newton's step and a larger
    shave follow; where that does not help either, nothing is claimed.

    Args:
        guess: what the inverse function says.
        tail: error probability of a bound p.
        alpha: what the tail may be.
        a: parameter of the law.
        b: parameter of the law.
        shave: relative, below 0 for a lower bound.
    """
    for _ in range(_TRIES):
        tried = np.clip(guess * (1 + shave / 2), 0.0, 1.0)
        level = tail(tried)
        wrong = ~(level <= alpha)  # so that what is no number is wrong
        if not wrong.any():
            return guess * (1 + shave)
        with np.errstate(all="ignore"):
            density = np.exp(xlogy(a, tried) + xlog1py(b - 1, -tried) - betaln(a, b))
            step = np.exp(np.sign(shave) * np.log(level / alpha) * level / density)
        guess = np.where(wrong, tried * step, guess)
        shave = np.where(wrong, 2 * shave, shave)
    return np.where(wrong, np.where(shave < 0, 0.0, 1.0), guess * (1 + shave))


def _checked(successes: ArrayLike, trials: ArrayLike, alpha: float) -> tuple[Floats, Floats]:
    check_level("alpha", alpha)
    got = f"got successes={brief(successes)}, trials={brief(trials)}"
    try:
        k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"successes and trials must be numbers of votes, {got}") from error
    if not ((n >= 1) & (k >= 0) & (k <= n)).all():
        raise InvalidArgumentError(f"need 0 <= successes <= trials and trials >= 1, {got}")
    if (n > MOST_TRIALS).any():
        raise InvalidArgumentError(
            f"trials must be at most {MOST_TRIALS:,}, up to where the bound is known to be rounded the safe way, {got}"
        )
    return k, n
