"""Images without stored votes, certified once more: all that can be done with counts alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Certification, Tally
from smoothcert.sampling import CHUNK_VOTES, Chunk, Phase, tallied
from smoothcert.store.auditing.redraw import ROUNDING_GAP, Comparison, Place, by_rounding, scale_of
from smoothcert.store.auditing.report import AuditReport
from smoothcert.store.auditing.stored import StoredImage


def places_of(image: StoredImage, phases: Sequence[Phase], num_classes: int) -> list[Place]:
    """Return every chunk up to the image's last vote; what its votes were is not known."""
    left, found = int(image.certificate[6]), []
    for phase in phases:
        for number in range(-(-min(phase.votes, left) // CHUNK_VOTES)):
            size = min(phase.chunk_votes(number), left - number * CHUNK_VOTES)
            found.append(Place(image.index, phase.name, number, np.full(size, num_classes, dtype=np.uint32)))
        left -= min(phase.votes, left)
    return found


class CountComparison:
    """Compares the counts of re-drawn images with the stored ones.

    Not vote by vote: counts that differ by no more votes than have two logits within rounding of each other are
    taken for arithmetic.

    Args:
        certification: what drew the votes.
        images: the images that are re-drawn whole.
        report: told about differences.
    """

    def __init__(
        self, certification: Certification, images: Sequence[StoredImage], report: AuditReport
    ) -> None:
        self.images, self.report = images, report
        self.num_classes = certification.engine.num_classes
        self._logits_of = Comparison(certification, report)
        self._classes: defaultdict[tuple[int, str], dict[int, NDArray[np.unsignedinteger]]] = defaultdict(
            dict
        )
        self._chunks: defaultdict[tuple[int, str], dict[int, Chunk]] = defaultdict(dict)

    def take(self, place: Place, chunk: Chunk, classes: NDArray[np.unsignedinteger]) -> None:
        """Take one chunk that was drawn again."""
        self.report.redrawn = (self.report.redrawn or 0) + len(classes)
        self.report.chunks += 1
        self._classes[place.index, place.phase][place.number] = classes
        self._chunks[place.index, place.phase][place.number] = chunk

    def conclude(self) -> None:
        """Compare the counts at every stored look."""
        for image in self.images:
            for tally in image.tallies():
                self._compare(image.index, tally)

    def _compare(self, index: int, tally: Tally) -> None:
        parts = self._classes[index, tally.phase]
        cast = np.concatenate([parts[number] for number in sorted(parts)] or [np.zeros(0, dtype=np.uint8)])
        found = tallied(cast[: tally.counts.drawn], self.num_classes)
        moved = int(np.abs(found - tally.counts.votes).sum() + 1) // 2
        if not moved:
            return
        close = sum(self._close_calls(chunk) for chunk in self._chunks[index, tally.phase].values())
        if moved <= min(close, by_rounding(tally.counts.drawn)):
            self.report.arithmetic += moved
        else:
            self.report.found(
                "votes",
                f"{moved:,} of {tally.counts.drawn:,} votes of {tally.phase!r} are for other classes when drawn again",
                index,
            )

    def _close_calls(self, chunk: Chunk) -> int:
        """Return how many votes of a chunk could have gone to another class by rounding."""
        logits = self._logits_of.logits(chunk)
        best = np.sort(logits, axis=1)
        return int((best[:, -1] - best[:, -2] < ROUNDING_GAP * scale_of(logits)).sum())
