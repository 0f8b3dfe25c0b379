"""Vote shares of 500 CIFAR-10 test images behind a published log: what early stopping has to work with there.

The log gives a radius per image, which is the Clopper-Pearson bound of some number of votes, so the number is known.
"""

from __future__ import annotations

import os
import sys

import numpy as np
from evidence.record import record
from numpy.typing import NDArray

import smoothcert as sc
from smoothcert.store import read_log

SIGMA, N, ALPHA = 0.12, 100_000, 0.001
LOG = "SMOOTHCERT_PUBLISHED_LOG"
SOURCE = "github.com/locuslab/smoothing, data/certify/cifar10/resnet110/noise_0.12/test/sigma_0.12"


def make() -> None:
    """Read the log named by the environment and record the share of votes behind every radius."""
    place = os.environ.get(LOG)
    if not place:
        sys.exit(f"set {LOG} to a copy of the per-image log {SOURCE}")
    results = read_log(place).results
    p = shares_behind(results.radius)
    record(
        "p_a_cifar10_resnet110",
        about=f"ResNet-110, Gaussian augmentation, sigma {SIGMA}, on every 20th CIFAR-10 test image: the share of "
        f"{N:,} votes whose lower bound at alpha {ALPHA} gives the published radius ({SOURCE}). Radii have three "
        "digits: the nearest share is taken. An image without a certificate had no bound above 1/2 and counts as 1/2.",
        seed=None,
        interval="exact up to the digits of the published radii",
        figures={
            "sigma": SIGMA,
            "votes_per_image": N,
            "index": results.index.tolist(),
            "p_hat": p.tolist(),
            "correct": results.correct.astype(bool).tolist(),
        },
    )


def shares_behind(radii: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shares of N votes whose radii are nearest to those given; 1/2 for radius 0."""
    votes = np.arange(N // 2, N + 1)
    reached = sc.Gaussian(SIGMA).radius(sc.bounds.clopper_pearson_lower(votes, N, ALPHA))
    first = int(np.flatnonzero(reached > 0)[0])  # below it the bound is no more than 1/2
    votes, reached = votes[first:], reached[first:]
    above = np.clip(np.searchsorted(reached, radii), 1, len(reached) - 1)
    nearest = above - (radii - reached[above - 1] < reached[above] - radii)
    return np.where(np.asarray(radii) > 0, votes[nearest] / N, 0.5)
