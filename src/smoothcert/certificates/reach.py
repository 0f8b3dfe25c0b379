"""How far certificates could reach: what was asked, what the votes could prove, and what a cell says beyond it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.radii import asked_radii, named_radii

if TYPE_CHECKING:
    from smoothcert.certificates.certification import Certification

_log = logging.getLogger("smoothcert")


class Note(Enum):
    """What a share at a radius is not; the value is the sentence to show a person, `mark` what a cell shows."""

    NOT_ASKED = "not asked about"
    NOT_PROVABLE = "not provable: even all votes for one class would not prove it"
    NOT_KNOWN = "not known: the log holds no radius as large, and does not tell what its votes could prove"
    AT_LEAST = "not asked about: at least what is proven at the next larger radius that was"

    @property
    def mark(self) -> str:
        """What stands in a cell: instead of a figure, or before it."""
        return {"NOT_ASKED": "–", "NOT_PROVABLE": "n/p", "NOT_KNOWN": "?", "AT_LEAST": "≥"}[self.name]

    @property
    def hides(self) -> bool:
        """True if there is no figure to show."""
        return self is not Note.AT_LEAST


class _Curve(Protocol):
    def certified_accuracy(self, radii: ArrayLike, /) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class Reading:
    """Certified accuracy read off at some radii, with what is to be said of each share.

    Args:
        radii: where it was read, in pixel units.
        shares: of the images, certified at each radius or more.
        notes: what each share is not; None where it is what it seems.
    """

    radii: NDArray[np.float64]
    shares: NDArray[np.float64]
    notes: tuple[Note | None, ...]

    @property
    def told(self) -> list[float | None]:
        """The shares, None in place of those that say nothing."""
        return [
            None if note is not None and note.hides else share
            for share, note in zip(self.shares.tolist(), self.notes, strict=True)
        ]


@dataclass(frozen=True)
class Reach:
    """The radii that a set of certificates can speak of. Not what was certified: none of its images need reach it.

    Args:
        largest: the largest radius that its votes could prove, in pixel units; None if not even radius 0.
        asked: the radii that were asked about, increasing; None if the largest one was looked for.
        is_known: False where only the certificates themselves tell, as in a log: then `largest` is the largest found.
        norm: of the radii; None where a log does not tell.
    """

    largest: float | None
    asked: tuple[float, ...] | None = None
    is_known: bool = True
    norm: str | None = None

    @property
    def proves_all(self) -> bool:
        """Whether every radius that was asked about could be proven, or the largest was looked for."""
        return self.asked is None or (self.largest is not None and self.asked[-1] <= self.largest)

    @cached_property
    def _asked(self) -> frozenset[float]:
        return frozenset(named_radii(self.asked or ()).tolist())

    def note(self, radius: float, share: float) -> Note | None:
        """Return what is to be said of a share of certified images; None if it is what it seems.

        Args:
            radius: where the share was read, in pixel units, as `named_radii` gives it.
            share: of the images, certified at that radius or more.
        """
        if self.asked is not None and radius not in self._asked:
            return Note.AT_LEAST if share > 0 else Note.NOT_ASKED
        if share > 0 or (self.largest is not None and radius <= self.largest):
            return None
        return Note.NOT_PROVABLE if self.is_known else Note.NOT_KNOWN

    def read(self, curve: _Curve, radii: ArrayLike) -> Reading:
        """Return what a curve of certified accuracy says at radii, in pixel units, as `named_radii` gives them."""
        grid = np.atleast_1d(np.asarray(radii, dtype=np.float64))
        shares = curve.certified_accuracy(grid)
        notes = tuple(self.note(r, s) for r, s in zip(grid.tolist(), shares.tolist(), strict=True))
        return Reading(grid, shares, notes)


def reach_before(certification: Certification) -> Reach:
    """Return how far a run will reach; log, before the first vote, if even unanimous votes cannot prove what is asked.

    Args:
        certification: what the run is to be made by.
    """
    asked = asked_radii(certification.procedure)
    reach = Reach(certification.plan.largest_radius, asked, norm=certification.noise.norm)
    if asked is not None and not reach.proves_all:
        most = "no radius" if reach.largest is None else f"at most {reach.largest:.4g}"
        _log.warning(
            "radius %g cannot be proven with these votes, whatever they are (%s can); take more (n)",
            asked[-1],
            most,
        )
    return reach
