"""Vote shares of images that others certified, as histograms: `python -m benchmarks.simulation.vote_shares LOG SIGMA`.

A log of the field has one radius per image, from which the share of the leading class follows: p = Phi(radius / sigma).
That is the lower bound of the share, by a few thousandths below what was counted.
"""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

TABLE = Path(__file__).with_suffix(".json")
ABSTAINED = 0.4
"""Share of the leading class where a log says only that nothing was proven: somewhere below a half."""
_WIDTH = 0.1  # of a bin, in sigma


@dataclass(frozen=True)
class ShareHistogram:
    """How many images had which radius, in bins of a tenth of sigma; the last one holds all that are further out.

    Args:
        about: the network, and where the log is from.
        sigma: of the noise.
        abstained: images without a radius.
        counts: images by bin, from radius 0 on.
    """

    about: str
    sigma: float
    abstained: int
    counts: tuple[int, ...]

    @classmethod
    def read(cls, name: str, table: Path = TABLE) -> Self:
        """Return a histogram of the table beside this file."""
        found: dict[str, Any] = json.loads(table.read_text())[name]
        return cls(found["about"], found["sigma"], found["abstained"], tuple(found["counts"]))

    @classmethod
    def of_log(cls, log: Path, sigma: float, about: str) -> Self:
        """Count the images of a log in the field's columns (idx label predict radius ..)."""
        with log.open() as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        radii = np.array([float(row["radius"]) for row in rows if int(row["predict"]) >= 0])
        bins = np.floor(radii / sigma / _WIDTH + 1e-9).astype(int)
        return cls(about, sigma, len(rows) - len(radii), tuple(np.bincount(bins).tolist()))

    @property
    def images(self) -> int:
        """How many were certified."""
        return self.abstained + sum(self.counts)

    def shares(self, images: int, seed: int) -> NDArray[np.float64]:
        """Return shares of so many images in a random order, evenly spread over the histogram and within its bins.

        Args:
            images: how many.
            seed: of their order.
        """
        edges = np.concatenate([[0], np.cumsum([self.abstained, *self.counts])]) / self.images
        places = (np.arange(images) + 0.5) / images
        bins = np.searchsorted(edges, places, side="right") - 1
        within = (places - edges[bins]) / (edges[bins + 1] - edges[bins])
        shares = np.where(bins == 0, ABSTAINED, ndtr(_WIDTH * (bins - 1 + within)))
        return np.random.default_rng(seed).permutation(shares)


if __name__ == "__main__":
    print(json.dumps(vars(ShareHistogram.of_log(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[1]))))
