"""What a paired comparison of two runs found: differences of certified accuracy and of ACR, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert.certificates import Note
from smoothcert.report.comparing.conclusion import conclude
from smoothcert.report.comparing.pairing import Pairs
from smoothcert.report.summary import Summary

Ends = tuple[float, float]


@dataclass(frozen=True)
class RadiusDifference:
    """Certified accuracy of A and B at one radius, and how they differ; fractions of the images.

    Args:
        radius: in pixel units.
        a: share that A certifies.
        b: share that B certifies.
        only_a: images that A alone certifies.
        only_b: images that B alone certifies.
        notes: why A's and B's share cannot be compared, None where it can.
        interval: exact, for b - a at this radius alone; None where one of the two cannot speak of it.
        joint: the same, wide enough that those of all radii hold at once.
    """

    radius: float
    a: float
    b: float
    only_a: int
    only_b: int
    notes: tuple[Note | None, Note | None]
    interval: Ends | None
    joint: Ends | None

    @property
    def difference(self) -> float:
        """B - A, as a fraction of the images."""
        return self.b - self.a


@dataclass(frozen=True)
class Comparison:
    """What two runs say of the same images. Not of other trainings: another seed of either may decide otherwise.

    Args:
        a: the first run or log, as it is.
        b: the second.
        pairs: the certificates that were compared.
        confidence: of each interval, and of all joint ones together.
        at: by radius.
        acr: average certified radius of A and B on the compared images.
        acr_interval: for the difference B - A, approximate, by the t distribution; None where there is none.
        acr_obstacle: why the two averages cannot be compared; empty where they can.
        remarks: what else differs, or is not known.
    """

    a: Summary
    b: Summary
    pairs: Pairs
    confidence: float
    at: tuple[RadiusDifference, ...]
    acr: Ends
    acr_interval: Ends | None
    acr_obstacle: str
    remarks: tuple[str, ...]

    @property
    def compared(self) -> tuple[RadiusDifference, ...]:
        """The radii of which both can speak."""
        return tuple(one for one in self.at if one.joint is not None)

    @property
    def b_more(self) -> tuple[RadiusDifference, ...]:
        """Where B certifies more, all radii considered at once."""
        return tuple(one for one in self.at if one.joint is not None and one.joint[0] > 0)

    @property
    def a_more(self) -> tuple[RadiusDifference, ...]:
        """Where A certifies more, all radii considered at once."""
        return tuple(one for one in self.at if one.joint is not None and one.joint[1] < 0)

    @property
    def conclusion(self) -> str:
        """What may be concluded, in one sentence that holds for all radii at once."""
        return conclude(self)
