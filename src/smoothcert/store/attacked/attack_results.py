"""What attacks on a smoothed classifier found, image by image, and what that says of its accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.arguments import is_number, is_whole
from smoothcert.bounds import clopper_pearson_lower
from smoothcert.certificates import Reach
from smoothcert.store.manifest_fields import MOST_INDEX, MOST_RADIUS
from smoothcert.store.rows import MOST_LABEL

_MOST_ATTEMPTS = 10_000  # on one image


@dataclass(frozen=True)
class Attempt:
    """One changed image and what PREDICT says of it.

    Args:
        distance: l2 distance from the clean image, in pixel units; 0 for the clean image itself.
        predicted: PREDICT's class, None if it abstains, which breaks nothing.
    """

    distance: float
    predicted: int | None


@dataclass(frozen=True)
class AttackedImage:
    """All attempts on one image.

    Args:
        index: place in the data set.
        label: true class.
        attempts: the clean image first.
        certified: class and radius that a run certifies, where one was given and certifies any.
    """

    index: int
    label: int
    attempts: tuple[Attempt, ...]
    certified: tuple[int, float] | None = None

    @property
    def broken_at(self) -> float:
        """Smallest distance at which PREDICT answered with another class than the label; infinite if nowhere."""
        return self._first_other_than(self.label)

    @property
    def certificate_broken_at(self) -> float:
        """Distance within the certified radius at which PREDICT left the certified class; infinite if nowhere."""
        if self.certified is None:
            return np.inf
        distance = self._first_other_than(self.certified[0])
        return distance if distance <= self.certified[1] else np.inf

    def _first_other_than(self, klass: int) -> float:
        return min((a.distance for a in self.attempts if a.predicted not in (None, klass)), default=np.inf)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; `from_json` reads them back."""
        return {
            "idx": self.index,
            "label": self.label,
            "attempts": [[a.distance, a.predicted] for a in self.attempts],
            "certified": None if self.certified is None else list(self.certified),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> AttackedImage:
        """Read what `to_json` wrote; raise ValueError for anything else."""
        if not isinstance(record, Mapping) or set(record) != {"idx", "label", "attempts", "certified"}:
            raise ValueError("an image has the fields idx, label, attempts and certified")
        index, label, stored, certified = (record[k] for k in ("idx", "label", "attempts", "certified"))
        if not isinstance(stored, list) or not 1 <= len(stored) <= _MOST_ATTEMPTS:
            raise ValueError(f"attempts of image {index!r} are not a list of 1 to {_MOST_ATTEMPTS:,}")
        attempts = tuple(Attempt(distance, predicted) for distance, predicted in map(_pair, stored))
        for attempt in attempts:
            _check(attempt.distance, attempt.predicted, index)
        if certified is not None:
            predicted, radius = _pair(certified)
            if predicted is None:
                raise ValueError(f"image {index!r} is certified as no class")
            _check(radius, predicted, index)
            certified = (predicted, radius)
        if not is_whole(index, 0, MOST_INDEX) or not is_whole(label, 0, MOST_LABEL - 1):
            raise ValueError(f"idx {index!r} and label {label!r} are no numbers of an image and a class")
        return cls(index, label, attempts, certified)


def _pair(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"expected a pair, got {str(value)[:60]}")
    return value[0], value[1]


def _check(distance: Any, predicted: Any, index: Any) -> None:
    """Refuse a distance or radius that is none, or a class that is none."""
    if not is_number(distance, 0, MOST_RADIUS):
        raise ValueError(f"a distance or radius of image {index!r} is {distance!r}, which none is")
    if predicted is not None and not is_whole(predicted, 0, MOST_LABEL - 1):
        raise ValueError(f"a class of image {index!r} is {predicted!r}, which none is")


@dataclass(frozen=True)
class AttackResults:
    """Attacks on many images: an upper bound on robust accuracy, and a test of certificates.

    Not the robust accuracy itself: a stronger attack may break more.

    Args:
        settings: what identifies the attack: model, noise, method, radii and so on.
        images: what was found, by index.
    """

    settings: Mapping[str, Any]
    images: Sequence[AttackedImage]

    def __len__(self) -> int:
        return len(self.images)

    @cached_property
    def broken_at(self) -> NDArray[np.float64]:
        """Smallest distance at which each image was broken."""
        return np.array([image.broken_at for image in self.images], dtype=np.float64)

    def accuracy(self, radii: ArrayLike) -> NDArray[np.float64]:
        """Return the share of images that no attempt within each radius broke."""
        grid = np.atleast_1d(np.asarray(radii, dtype=np.float64))
        return np.asarray((self.broken_at[:, None] > grid).sum(axis=0) / max(len(self), 1))

    def certified_accuracy(self, radii: ArrayLike) -> NDArray[np.float64]:
        """Return the share of the same images that the run certifies as their label at each radius or more."""
        grid = np.atleast_1d(np.asarray(radii, dtype=np.float64))
        proven = [
            i.certified[1] if i.certified is not None and i.certified[0] == i.label else -1.0
            for i in self.images
        ]
        return np.asarray((np.array(proven)[:, None] >= grid).sum(axis=0) / max(len(self), 1))

    @cached_property
    def reach(self) -> Reach:
        """Which radii the run's certificates can speak of."""
        asked = self.settings["certified_radii"]
        return Reach(self.settings["certified_largest"], None if asked is None else tuple(asked))

    @cached_property
    def broken_certificates(self) -> tuple[AttackedImage, ...]:
        """Certified images that an attempt within their radius broke; alpha of them may be."""
        return tuple(image for image in self.images if np.isfinite(image.certificate_broken_at))

    @property
    def certificates(self) -> int:
        """Images that a run certifies."""
        return sum(image.certified is not None for image in self.images)

    @property
    def breaks_too_many(self) -> bool:
        """True if more certificates broke than the two error probabilities can explain, but one time in 10,000.

        A break may be an error of the certificate or of PREDICT, which is asked about every attempt.
        """
        broken = len(self.broken_certificates)
        if not broken:
            return False
        asked = max(len(image.attempts) for image in self.images)
        allowed = float(self.settings["certified_alpha"] or 0.0) + asked * float(self.settings["alpha"])
        return bool(clopper_pearson_lower(broken, self.certificates, 1e-4) > min(allowed, 1.0))
