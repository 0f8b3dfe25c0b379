"""What many certificates say together. Pure functions of arrays, one entry per image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.bounds import clopper_pearson_lower, clopper_pearson_upper

ACR_CAVEAT = (
    "The average certified radius (ACR) grows without bound with the number of votes on easy images, so even a "
    "constant classifier can score high: read it beside certified accuracy at fixed radii."
)


@dataclass(frozen=True)
class Results:
    """Certificates of many images, as columns.

    Args:
        index: place of each image in its data set.
        label: true class.
        predicted: certified class, -1 on abstention.
        radius: certified radius in pixel units.
    """

    index: NDArray[np.int64]
    label: NDArray[np.int64]
    predicted: NDArray[np.int64]
    radius: NDArray[np.float64]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """True where the certified class is the label; an abstention is wrong, whatever the label."""
        return np.equal(self.predicted, self.label) & (self.predicted >= 0)

    def __len__(self) -> int:
        return len(self.index)

    def only(self, chosen: NDArray[np.bool_]) -> Results:
        """Return the certificates of some images, chosen by a mask."""
        return Results(self.index[chosen], self.label[chosen], self.predicted[chosen], self.radius[chosen])

    def certified_accuracy(self, radii: ArrayLike) -> NDArray[np.float64]:
        """Return the share of images certified as their label at each radius or more."""
        return self._certified(radii) / max(len(self), 1)

    def certified_accuracy_interval(
        self, radii: ArrayLike, confidence: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a two-sided Clopper-Pearson interval over images for each radius.

        It speaks of the accuracy on images drawn like these; the certificates' own alpha is not in it.
        """
        count, half = self._certified(radii), (1 - confidence) / 2
        return (
            np.atleast_1d(clopper_pearson_lower(count, max(len(self), 1), half)),
            np.atleast_1d(clopper_pearson_upper(count, max(len(self), 1), half)),
        )

    def average_radius(self) -> float:
        """Return the average certified radius (ACR), wrong and abstained images counting 0; see ACR_CAVEAT."""
        return float(np.where(self.correct, self.radius, 0.0).sum() / max(len(self), 1))

    def abstained(self) -> float:
        """Return the share of images without a certified class."""
        return float((self.predicted < 0).sum() / max(len(self), 1))

    def _certified(self, radii: ArrayLike) -> NDArray[np.int64]:
        grid = np.atleast_1d(np.asarray(radii, dtype=np.float64))
        proven = np.sort(self.radius[self.correct])  # not a table of images by radii, which may be large
        return np.asarray(len(proven) - np.searchsorted(proven, grid, side="left"), dtype=np.int64)
