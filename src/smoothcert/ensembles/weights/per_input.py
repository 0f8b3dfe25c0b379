"""The paper's form of EsbRS, with weights chosen at every clean image: for reproduction, not for certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.arguments import is_whole
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.ensembles.weights.esbrs import FLOOR, solve_esbrs
from smoothcert.ensembles.weights.margins import MarginMoments, Perturbation, margin_moments
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import answer_of, padded
from smoothcert.noise import NoiseLaw
from smoothcert.seeding import check_seed, generator_for

_SELECT = 100  # votes that choose a class
_ROWS = 500
_TOGETHER = 16  # images that share perturbed members; what is found does not depend on it

Bound = Callable[[int, int], float]
"""From successes and trials to a lower bound on the probability."""


@dataclass(frozen=True)
class PerInputClaim:
    """What per-input weights claim about one image. Not a certificate, and no radius within which anything holds.

    Args:
        predicted: the class with the most votes of the mixture with this image's weights; None where its bound does
            not exceed 1/2.
        claimed_radius: what the votes would prove if the weights did not depend on the image; 0 without a class.
        weights: chosen at this image.
    """

    is_certificate: ClassVar[bool] = False

    predicted: int | None
    claimed_radius: float
    weights: tuple[float, ...]


class PerInputEsbrs:
    """EsbRS as published: weights that minimise the variance of the margins at each clean image.

    Not a classifier: it is no function of the noisy image, so it cannot be called, and `SmoothedClassifier` refuses
    it. Two images can lie within each other's claimed radius and be given different classes. The paper uses the true
    label; here the class that equal weights predict takes its place unless labels are given, because nobody has a
    label when asking.

    Args:
        members: classifiers in eval mode with the same classes.
        noise: the law of the noise.
        seed: of noise and perturbations; None draws one.
        how: numbers of copies and size of the perturbations; the paper's by default.
        floor: smallest mean margin that counts as it is.
    """

    def __init__(
        self,
        members: Sequence[nn.Module],
        noise: NoiseLaw,
        *,
        seed: int | None = None,
        how: Perturbation | None = None,
        floor: float = FLOOR,
    ) -> None:
        self.members, self.noise, self.how, self.floor = tuple(members), noise, how, floor
        self.seed = check_seed(seed)
        self._equal = VotingEnsemble(self.members, "softmax")

    def __repr__(self) -> str:
        return (
            f"PerInputEsbrs of {len(self.members)} members, which is no function of the noisy image and has no "
            "certificates; fit_esbrs chooses fixed weights, which have"
        )

    def weights(
        self, images: torch.Tensor, *, places: Sequence[int], labels: Sequence[int] | None = None
    ) -> list[tuple[float, ...]]:
        """Return the weights chosen at each clean image, for its label or the class that equal weights predict there.

        Args:
            images: clean images, (N, ...).
            places: their numbers in the keyed streams of noise.
            labels: true classes, as the paper has them; None for predicted ones.
        """
        if labels is None:
            labels = [
                int(self._votes(self._equal, image, _SELECT, "per-input-predict", place).argmax())
                for image, place in zip(images, places, strict=True)
            ]
        moments = margin_moments(
            self.members,
            images,
            torch.tensor(labels),
            self.noise,
            seed=self.seed,
            how=self.how,
            places=places,
        )
        singles = (
            MarginMoments(
                moments.mean[row : row + 1], moments.covariance[row : row + 1], moments.classes[row : row + 1]
            )
            for row in range(len(images))
        )
        return [solve_esbrs(single, floor=self.floor).weights for single in singles]

    def claims(
        self,
        image_at: Callable[[int], torch.Tensor],
        places: Sequence[int],
        *,
        labels: Sequence[int] | None = None,
        n: int = 1_000,
        bound: Bound,
    ) -> Iterator[PerInputClaim]:
        """Yield what the paper would call a certificate of each image.

        Args:
            image_at: from a place to the clean image; asked for a few at a time.
            places: numbers of the images, also in the keyed streams of noise.
            labels: true classes, as the paper has them when it chooses weights; None for predicted ones.
            n: votes that bound the probability.
            bound: from successes and trials to a lower bound on the probability.
        """
        if not is_whole(n, 1):
            raise InvalidArgumentError(f"n must be a positive integer, got {n!r}")
        for start in range(0, len(places), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            some = torch.stack([image_at(place) for place in places[part]])
            chosen = self.weights(some, places=places[part], labels=None if labels is None else labels[part])
            for image, place, weights in zip(some, places[part], chosen, strict=True):
                yield self._claim(image, place, weights, n, bound)

    def claim(self, image: torch.Tensor, *, n: int = 1_000, bound: Bound) -> PerInputClaim:
        """Return the claim about one image, arguments as for `claims`."""
        return next(self.claims(lambda _: image, [0], n=n, bound=bound))

    def _claim(
        self, image: torch.Tensor, place: int, weights: tuple[float, ...], n: int, bound: Bound
    ) -> PerInputClaim:
        mixture = VotingEnsemble(self.members, "softmax", weights)
        predicted = int(self._votes(mixture, image, _SELECT, "per-input-select", place).argmax())
        votes = self._votes(mixture, image, n, "per-input-estimate", place)
        p_lower = bound(int(votes[predicted]), n)
        if p_lower <= 0.5:
            return PerInputClaim(None, 0.0, weights)
        return PerInputClaim(predicted, float(self.noise.radius(p_lower)), weights)

    def _votes(
        self, model: nn.Module, image: torch.Tensor, count: int, phase: str, place: int
    ) -> torch.Tensor:
        """Return votes by class of a classifier on noisy copies."""
        totals: torch.Tensor | None = None
        for chunk, start in enumerate(range(0, count, _ROWS)):
            noisy = torch.empty((min(_ROWS, count - start), *image.shape))
            self.noise.perturb(image, noisy, generator_for(self.seed, place, phase, chunk))
            with torch.no_grad():
                logits = answer_of(model, padded(noisy))[: len(noisy)]
            votes = torch.bincount(logits.argmax(dim=1), minlength=logits.shape[1])
            totals = votes if totals is None else totals + votes
        assert totals is not None
        return totals
