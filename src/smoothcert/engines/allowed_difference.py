"""By how much two honest computations of the same logits may differ."""

from __future__ import annotations

from collections.abc import Sequence

import torch

_FLOOR = 2e-6  # of a logit's own size: what float32 cannot resolve of a sum of many terms
_JUMP = 1e3  # classes so much farther behind than the one before are masked, not rivals


def allowed_difference(logits: torch.Tensor, tolerance: float) -> torch.Tensor:
    """Return how far each logit may be off, (.., classes), for logits of shape (rows, .., classes).

    A share of the spread between rival classes, whatever the logits' unit. Not of the largest logit: a class that
    is masked with -1e9 would excuse any difference between the others.

    Args:
        logits: of the model itself, one row per image; rows with NaN or infinite logits are allowed nothing.
        tolerance: share of the spread.
    """
    known = logits.double()
    finite = known.isfinite().all(dim=-1, keepdim=True)
    known = torch.where(finite, known, 0.0)
    best = known.amax(dim=-1, keepdim=True)
    spread = (best - known).amax(dim=-1, keepdim=True)
    usual = torch.minimum(spread, _usual_spread(best - known, finite.squeeze(-1)))
    floor = _FLOOR * torch.maximum(known.abs(), best.abs())
    return torch.where(finite, tolerance * usual + floor, 0.0)


def same_answers(
    given: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], tolerance: float = 1e-3
) -> bool:
    """Return whether answers to some batches are equal up to rounding.

    Args:
        given: answers to each batch.
        expected: what they should be.
        tolerance: share of the spread of logits; by default what other shapes of batches bring, and far more.
    """
    allowed = [allowed_difference(answers, tolerance) for answers in expected]
    return all(
        bool((((one - two).abs() <= most) | (one == two) | (one.isnan() & two.isnan())).all())
        for one, two, most in zip(given, expected, allowed, strict=True)
    )


def _usual_spread(gaps: torch.Tensor, finite: torch.Tensor) -> torch.Tensor:
    """Return the spread of rival classes in the middle row: the last gap behind the best before a jump."""
    some = gaps[finite]
    if not len(some):
        return torch.zeros((), dtype=gaps.dtype)
    profile = some.sort(dim=-1).values.median(dim=0).values  # one row may tie by chance, half of them do not
    behind, before = profile[1:], profile[:-1]
    jumps = ((before > 0) & (behind > _JUMP * before)).nonzero()
    return profile[int(jumps[0])] if len(jumps) else profile[-1]
