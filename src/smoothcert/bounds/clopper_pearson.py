"""Clopper-Pearson: exact one-sided bounds on a probability from a fixed number of votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

from smoothcert.errors import InvalidArgumentError

MOST_TRIALS = 10**8
"""Beyond it the inverse incomplete beta function has not been held against exact tails."""

# Relative shave in the safe direction. The inverse incomplete beta function is good to about 1e-13 in p at moderate
# numbers of trials, so this covers its error a hundred times over and costs nothing one could print.
_SHAVE = 1e-11
# By trial: for counts below half of the trials the function's error grows with these, to 3.6e-17 for each.
_SHAVE_BY_TRIAL = 8e-17
_MODERATE = 10**6  # up to here an upper bound above a half is good without it
_LEAST = 1e-100


def clopper_pearson_lower(successes: ArrayLike, trials: ArrayLike, alpha: float) -> Any:
    """Return p_L with P(p_L > p) <= alpha whatever p is; 0 at no successes. Never rounded up.

    Not anytime-valid: looking at it repeatedly as votes come in breaks the guarantee.

    Args:
        successes: votes for the class, 0 <= successes <= trials; a number or an array.
        trials: votes drawn, >= 1; a number or an array.
        alpha: one-sided error probability, in (0, 1).

    Example:
        >>> round(clopper_pearson_lower(99_000, 100_000, alpha=0.001), 6)
        0.988998
    """
    k, n = _checked(successes, trials, alpha)
    inner = betaincinv(np.maximum(k, 1), n - k + 1, alpha) * (1 - _shave(n, 2 * k < n))
    bound = np.where(k == 0, 0.0, inner)
    return float(bound) if bound.ndim == 0 else bound


def clopper_pearson_upper(successes: ArrayLike, trials: ArrayLike, alpha: float) -> Any:
    """Return p_U with P(p_U < p) <= alpha whatever p is; 1 when all succeed. Never rounded down.

    Arguments as for `clopper_pearson_lower`.
    """
    k, n = _checked(successes, trials, alpha)
    inner = betainccinv(k + 1, np.maximum(n - k, 1), alpha) * (1 + _shave(n, (2 * k < n) | (n > _MODERATE)))
    bound = np.where(k == n, 1.0, np.minimum(inner, 1.0))
    return float(bound) if bound.ndim == 0 else bound


def check_level(name: str, value: float) -> None:
    """Refuse an error probability outside (0, 1)."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not _LEAST <= value < 1:
        raise InvalidArgumentError(
            f"{name} is an error probability and must lie strictly between 0 and 1 (0.001 is usual; below "
            f"{_LEAST:g} the arithmetic is not to be trusted), got {value!r}"
        )


def _shave(n: NDArray[np.float64], grows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the relative shave; where the function's error grows with the trials, so does the shave."""
    return np.where(grows, np.maximum(_SHAVE, _SHAVE_BY_TRIAL * n), _SHAVE)


def _checked(
    successes: ArrayLike, trials: ArrayLike, alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    check_level("alpha", alpha)
    got = f"got successes={successes!r}, trials={trials!r}"
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
