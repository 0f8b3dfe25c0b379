"""The shares that members have in a vote."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from smoothcert.errors import InvalidArgumentError


def shares_of(weights: Sequence[float] | None, count: int, *, signed: bool) -> torch.Tensor:
    """Return weights whose sizes sum to 1, (count,), equal ones where none are given.

    Args:
        weights: one number per member.
        count: number of members.
        signed: whether some may be negative.
    """
    if weights is None:
        weights = [1.0] * count
    if len(weights) != count:
        raise InvalidArgumentError(
            f"weights must hold one number per member, got {len(weights)} for {count} members"
        )
    try:
        numbers = [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(f"weights must be numbers, got {list(weights)}") from None
    largest = max(map(abs, numbers))
    if not all(map(math.isfinite, numbers)) or largest == 0 or (not signed and min(numbers) < 0):
        fix = "not all 0" if signed else ">= 0 and have a positive sum (rule soft takes negative ones)"
        raise InvalidArgumentError(f"weights must be finite, {fix}, got {list(weights)}")
    scaled = [weight / largest for weight in numbers]  # a sum of large numbers would overflow
    total = sum(map(abs, scaled))
    return torch.tensor([weight / total for weight in scaled], dtype=torch.float32)
