"""Stored network evaluations, held against what the votes cost when they are drawn again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from smoothcert.certificates import Certification
from smoothcert.workflows.auditing.redraw import Place, by_rounding
from smoothcert.workflows.auditing.report import AuditReport
from smoothcert.workflows.auditing.stored import StoredImage


class CostComparison:
    """Compares the evaluations of images with those of their re-drawn votes.

    Exact where every vote costs the same. Where an ensemble exits early it is not, unless an image is re-drawn whole:
    a vote that was not drawn again may have cost anything from one evaluation to all of them.

    Args:
        certification: what drew the votes.
        images: the images whose evaluations are judged, of readable rows.
        report: told about differences.
    """

    def __init__(
        self, certification: Certification, images: Sequence[StoredImage], report: AuditReport
    ) -> None:
        self.images, self.report = images, report
        self.num_classes = certification.engine.num_classes
        self.exits_early = certification.engine.exits_early
        self.most = certification.engine.evaluations_per_vote[0]
        self.least = 1 if self.exits_early else self.most
        self._votes: defaultdict[int, int] = defaultdict(int)
        self._evaluations: defaultdict[int, int] = defaultdict(int)

    def take(self, place: Place, evaluations: int) -> None:
        """Take what one chunk cost when it was drawn again."""
        self._votes[place.index] += len(place.classes)
        self._evaluations[place.index] += evaluations

    def conclude(self) -> None:
        """Report every image that cannot have cost what is stored."""
        for image in self.images:
            votes, stored = image.samples, image.evaluations
            redrawn = self._votes[image.index]
            left, known = votes - redrawn, self._evaluations[image.index]
            # Rounding may let an ensemble exit elsewhere, as it may change a vote.
            slack = self.most * by_rounding(redrawn) if self.exits_early and redrawn else 0
            least, most = known + left * self.least - slack, known + left * self.most + slack
            if not least <= stored <= most:
                self.report.add_finding(
                    "cost",
                    f"{stored:,} network evaluations are stored, but its {votes:,} votes cost {_span(least, most)}",
                    image.index,
                )
            for tally in image.tallies(self.num_classes):
                drawn, evaluations = tally.counts.drawn, tally.counts.evaluations
                if not drawn * self.least <= evaluations <= drawn * self.most:
                    self.report.add_finding(
                        "cost",
                        f"{evaluations:,} evaluations are stored with {drawn:,} votes of {tally.phase!r}, which cost "
                        f"{_span(drawn * self.least, drawn * self.most)}",
                        image.index,
                    )


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
