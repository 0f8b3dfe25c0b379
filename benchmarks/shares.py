"""Vote shares of real images, measured once and kept as evidence: what early stopping is measured on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TABLE = Path(__file__).parents[1] / "evidence" / "p_a_mnist_lenet.json"


@dataclass(frozen=True, eq=False)
class Shares:
    """Vote shares of the leading class by image, whether that class is the label, and where they come from."""

    p: NDArray[np.float64]
    correct: NDArray[np.bool_]
    source: str


def read_shares(path: Path = TABLE) -> Shares:
    """Read the table of vote shares; a missing file is an error that says how to make it."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there; `make evidence ONLY={path.stem}` makes it")
    figures = json.loads(path.read_text())["figures"]
    p, correct = np.asarray(figures["p_hat"], dtype=np.float64), np.asarray(figures["correct"], dtype=bool)
    if p.shape != correct.shape or p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{path}: p_hat and correct must be lists of one length, shares in [0, 1]")
    return Shares(p, correct, f"evidence/{path.name}")


def made_up_shares(images: int = 500) -> Shares:
    """Return shares that only look like a classifier's: for trying things out, never for a claim."""
    p = 1 - 0.6 * np.linspace(0.001, 1.0, images) ** 4
    return Shares(p, p > 0.5, "made up")


def some_shares(images: int | None = None) -> Shares:
    """Return vote shares of real images, or made-up ones, said so, where the table is missing.

    Args:
        images: how many, evenly spaced over the sorted table; None: all.
    """
    try:
        shares = read_shares()
    except FileNotFoundError as error:
        print(f"{error}; going on with a made-up table, which proves nothing", flush=True)
        shares = made_up_shares()
    if images is None or images >= len(shares.p):
        return shares
    order = np.argsort(shares.p, kind="stable")
    chosen = np.sort(order[np.linspace(0, len(order) - 1, images).round().astype(int)])
    return Shares(shares.p[chosen], shares.correct[chosen], shares.source)
