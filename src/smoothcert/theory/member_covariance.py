"""Covariances within a member and between two members: how much of a part of the logits the members share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import InvalidArgumentError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MemberCovariance:
    """Covariances over classes of one part of the logits: within a member, and between two different ones.

    Args:
        intra: mean over members, (classes, classes).
        inter: mean over ordered pairs of different members, (classes, classes); the model says zeta times `intra`.
    """

    intra: Floats
    inter: Floats

    def __post_init__(self) -> None:
        if not np.isfinite(self.zeta_by_class).any():
            raise InvalidArgumentError(
                "the members' logits never differ, so there is no variance to share; check that members differ from "
                "each other, and that the noise reaches them"
            )

    @property
    def zeta_by_class(self) -> Floats:
        """Inter- over intra-member variance of each class; NaN for classes that never move."""
        own = np.diag(self.intra)
        moving = own > 1e-12 * max(float(own.max()), 1e-300)
        return np.asarray(np.divide(np.diag(self.inter), own, out=np.full(len(own), np.nan), where=moving))

    @property
    def zeta(self) -> float:
        """Median of `zeta_by_class` over the classes that move."""
        return float(np.nanmedian(self.zeta_by_class))
