"""Two sets of certificates side by side, image by image; refused where they are about different images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smoothcert.certificates import Results
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.summary import Summary


@dataclass(frozen=True)
class Pairs:
    """Certificates of the same images by A and by B, in the same order.

    Args:
        a: those of A.
        b: those of B.
        only_a: images of A that B does not have, left out.
        only_b: images of B that A does not have, left out.
    """

    a: Results
    b: Results
    only_a: int
    only_b: int

    def __len__(self) -> int:
        return len(self.a)


def pair(a: Summary, b: Summary, *, common: bool) -> Pairs:
    """Return the certificates of the images that both have; refuse what cannot be compared image by image.

    Args:
        a: first run or log.
        b: second run or log.
        common: leave out images that only one has, instead of refusing.
    """
    _check_comparable(a, b)
    index, in_a, in_b = np.intersect1d(a.results.index, b.results.index, return_indices=True)
    pairs = Pairs(
        _rows(a.results, in_a), _rows(b.results, in_b), a.images - len(index), b.images - len(index)
    )
    if not len(pairs):
        raise InvalidArgumentError(
            f"{a.name} and {b.name} have no image in common ({a.indices}; {b.indices}), so there is nothing to compare "
            "image by image; certify the same images with both"
        )
    other = np.flatnonzero(pairs.a.label != pairs.b.label)
    if len(other):
        first = other[0]
        raise InvalidArgumentError(
            f"{a.name} and {b.name} are about different data: image {index[first]} has label {pairs.a.label[first]} in "
            f"the one and {pairs.b.label[first]} in the other ({len(other):,} of {len(pairs):,} images differ); "
            "certify the same images with both"
        )
    if (pairs.only_a or pairs.only_b) and not common:
        raise InvalidArgumentError(
            f"{_told(a)} and {_told(b)} are about different images, {len(pairs):,} of them the same; give --common "
            f"(common=True) to compare those alone{_resume(a, b)}"
        )
    return pairs


def _check_comparable(a: Summary, b: Summary) -> None:
    """Refuse radii in different norms and images of different data sets."""
    norms = (a.reach.norm, b.reach.norm)
    if None not in norms and norms[0] != norms[1]:
        raise InvalidArgumentError(
            f"{a.name} has radii in {norms[0]}, {b.name} in {norms[1]}, which cannot be compared; give --norm "
            "(Run.in_norm) to turn both into one, where there is a way"
        )
    data = [summary.manifest.get("dataset") for summary in (a, b)]
    if data[0] and data[1] and data[0]["digest"] != data[1]["digest"]:
        names = [f"{one['name']} ({one['split']}, digest {one['digest'][:12]})" for one in data if one]
        raise InvalidArgumentError(
            f"{a.name} and {b.name} are about different data sets: {names[0]} and {names[1]}; certify the same images "
            "with both"
        )


def _rows(results: Results, rows: np.ndarray) -> Results:
    return Results(results.index[rows], results.label[rows], results.predicted[rows], results.radius[rows])


def _told(summary: Summary) -> str:
    return f"{summary.name} ({summary.indices}; {summary.images:,} in all)"


def _resume(a: Summary, b: Summary) -> str:
    unfinished = [summary.name for summary in (a, b) if summary.missing]
    return f", or finish {' and '.join(unfinished)} with --resume" if unfinished else ""
