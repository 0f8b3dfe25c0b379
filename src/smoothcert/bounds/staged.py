"""CERTIFYADP's boundary: Clopper-Pearson on fresh votes in every stage, the levels shared out evenly."""

from __future__ import annotations

import numpy as np

from smoothcert.bounds.boundary import Boundary, first_true
from smoothcert.bounds.clopper_pearson import clopper_pearson_lower, clopper_pearson_upper


def staged_boundary(stages: tuple[int, ...], p0: float, alpha: float, beta: float) -> Boundary:
    """Return the counts that certify p > p0 (level alpha/s each) or give up (beta/(s-1), not in the last).

    Args:
        stages: votes drawn freshly in each of the s stages.
        p0: the probability to exceed.
        alpha: error probability of a false certificate, over all stages.
        beta: error probability of giving up although p >= p0, over all stages.
    """
    n = np.asarray(stages, dtype=np.int64)
    nowhere = np.full(n.shape, -1, dtype=np.int64)
    certify = first_true(
        lambda k: clopper_pearson_lower(np.clip(k, 0, n), n, alpha / n.size) > p0, nowhere, n + 1
    )
    abandon = nowhere.copy()
    if n.size > 1:
        reachable = first_true(
            lambda k: clopper_pearson_upper(np.clip(k, 0, n), n, beta / (n.size - 1)) >= p0, nowhere, n + 1
        )
        abandon[:-1] = reachable[:-1] - 1
    return Boundary(looks=n, certify=certify, abandon=abandon, fresh=True)
