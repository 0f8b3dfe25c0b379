"""Rival: CERTIFYADP image by image (Horvath et al. 2022), as a plain loop written here from the algorithm.

The same eager forward passes as Cohen's loop; each stage draws fresh votes and forgets those before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from scipy.stats import beta as beta_law
from scipy.stats import norm

from benchmarks.cohen_loop import DOCUMENTED_BATCH, Model, count_votes, lower_bound
from benchmarks.measure import Claim

STAGES = (100, 1_000, 10_000, 120_000)


def upper_bound(successes: int, trials: int, level: float) -> float:
    """Return the one-sided Clopper-Pearson upper bound from scipy."""
    return float(beta_law.isf(level, successes + 1, trials - successes)) if successes < trials else 1.0


def certify(
    model: Model,
    image: torch.Tensor,
    radius: float,
    batch: int = DOCUMENTED_BATCH,
    *,
    sigma: float,
    num_classes: int,
    stages: Sequence[int] = STAGES,
    n0: int = 100,
    alpha: float = 0.001,
    beta: float = 0.001,
) -> Claim:
    """Prove one radius stage by stage, or give up.

    Args:
        model: batch -> logits, as it is.
        image: one image.
        radius: the radius to prove, in pixel units.
        batch: noisy copies per forward pass; a stage smaller than this is one smaller batch.
        sigma: standard deviation of the noise, in pixel units.
        num_classes: number of logits.
        stages: fresh votes of each stage.
        n0: votes that choose the class.
        alpha: error probability of a false certificate, shared evenly by the stages.
        beta: error probability of giving up although the radius holds, shared by all stages but the last.
    """
    count = partial(count_votes, model, image, sigma=sigma, num_classes=num_classes)
    needed = float(norm.cdf(radius / sigma))
    chosen = int(count(n0, batch).argmax())
    votes = n0
    for stage, n in enumerate(stages, start=1):
        successes = int(count(n, batch)[chosen])
        votes += n
        if lower_bound(successes, n, alpha / len(stages)) > needed:
            return Claim(chosen, radius, votes)
        if stage < len(stages) and upper_bound(successes, n, beta / (len(stages) - 1)) < needed:
            break
    return Claim(None, 0.0, votes)
