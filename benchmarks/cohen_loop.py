"""Rival: CERTIFY as the field runs it (Cohen et al. 2019), written here from the algorithm.

Eager torch with its default threads, one image at a time, batches of noisy copies, one after the other.
Kinder than most published loops in one point: votes are counted by bincount, not one by one in Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import torch
from scipy.stats import beta, norm

from benchmarks.measure import Claim

DOCUMENTED_BATCH = 1_000
Model = Callable[[torch.Tensor], torch.Tensor]


@torch.no_grad()
def count_votes(
    model: Model, image: torch.Tensor, n: int, batch: int, *, sigma: float, num_classes: int
) -> torch.Tensor:
    """Return the votes by class of n noisy copies of an image.

    Args:
        model: batch -> logits, as it is.
        image: one image.
        n: votes.
        batch: noisy copies per forward pass.
        sigma: standard deviation of the noise, in pixel units.
        num_classes: number of logits.
    """
    counts = torch.zeros(num_classes, dtype=torch.int64)
    while n > 0:
        rows = min(batch, n)
        copies = image.repeat((rows, *(1 for _ in image.shape)))
        noisy = copies + torch.randn_like(copies) * sigma
        counts += torch.bincount(model(noisy).argmax(dim=1), minlength=num_classes)
        n -= rows
    return counts


def lower_bound(successes: int, trials: int, alpha: float) -> float:
    """Return the one-sided Clopper-Pearson bound from scipy."""
    return float(beta.ppf(alpha, successes, trials - successes + 1)) if successes else 0.0


def certify(
    model: Model,
    image: torch.Tensor,
    n: int,
    batch: int = DOCUMENTED_BATCH,
    *,
    sigma: float,
    num_classes: int,
    n0: int = 100,
    alpha: float = 0.001,
) -> Claim:
    """Return CERTIFY's answer: the class of n0 votes, bounded by n fresh ones. Arguments as for `count_votes`."""
    count = partial(count_votes, model, image, sigma=sigma, num_classes=num_classes)
    chosen = int(count(n0, batch).argmax())
    successes = int(count(n, batch)[chosen])
    p_lower = lower_bound(successes, n, alpha)
    if p_lower <= 0.5:
        return Claim(None, 0.0, n0 + n)
    return Claim(chosen, sigma * float(norm.ppf(p_lower)), n0 + n)


def seconds_per_vote(
    model: Model,
    image: torch.Tensor,
    batches: Sequence[int],
    seconds: float,
    *,
    sigma: float,
    num_classes: int,
) -> dict[int, float]:
    """Return what a vote takes at each batch size, each tried for at least `seconds` and one batch."""
    count = partial(count_votes, model, image, sigma=sigma, num_classes=num_classes)
    count(min(batches), min(batches))  # warm
    found = {}
    for batch in batches:
        start, drawn = time.perf_counter(), 0
        while drawn == 0 or time.perf_counter() - start < seconds:
            count(batch, batch)
            drawn += batch
        found[batch] = (time.perf_counter() - start) / drawn
    return found
