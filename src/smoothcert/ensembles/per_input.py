"""The paper's form of EsbRS, with weights chosen at every clean image: for reproduction, not for certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.ensembles.esbrs import FLOOR, solve_esbrs
from smoothcert.ensembles.margins import Perturbation, margin_moments
from smoothcert.ensembles.padding import padded
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.seeding import check_seed, generator_for

_SELECT = 100  # votes that choose a class
_ROWS = 500


@dataclass(frozen=True)
class PerInputClaim:
    """What per-input weights claim about one image. Not a certificate, and no radius within which anything holds.

    Args:
        predicted: the class with the most votes of the mixture with this image's weights.
        claimed_radius: what the votes would prove if the weights did not depend on the image.
        weights: chosen at this image.
    """

    is_certificate: ClassVar[bool] = False

    predicted: int
    claimed_radius: float
    weights: tuple[float, ...]


class PerInputEsbrs:
    """EsbRS as published: weights that minimise the variance of the margins at each clean image.

    Not a classifier: it is no function of the noisy image, so it cannot be called, and `SmoothedClassifier` refuses
    it. Two images can lie within each other's claimed radius and be given different classes. The paper uses the true
    label; here the class that equal weights predict takes its place, because nobody has a label when asking.

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

    def weights(self, image: torch.Tensor) -> tuple[float, ...]:
        """Return the weights chosen at a clean image, for the class that equal weights predict there."""
        votes = self._votes(self._equal, image, _SELECT, "per-input-predict")
        moments = margin_moments(
            self.members,
            image.unsqueeze(0),
            votes.argmax().reshape(1),
            self.noise,
            seed=self.seed,
            how=self.how,
        )
        return solve_esbrs(moments, floor=self.floor).weights

    def claim(
        self, image: torch.Tensor, *, n: int = 1_000, bound: Callable[[int, int], float]
    ) -> PerInputClaim:
        """Return what the paper would call a certificate.

        Args:
            image: a clean image.
            n: votes that bound the probability.
            bound: from successes and trials to a lower bound on the probability.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InvalidArgumentError(f"n must be a positive integer, got {n!r}")
        weights = self.weights(image)
        mixture = VotingEnsemble(self.members, "softmax", weights)
        predicted = int(self._votes(mixture, image, _SELECT, "per-input-select").argmax())
        votes = self._votes(mixture, image, n, "per-input-estimate")
        radius = float(self.noise.radius(bound(int(votes[predicted]), n)))
        return PerInputClaim(predicted, radius, weights)

    def _votes(self, model: nn.Module, image: torch.Tensor, count: int, phase: str) -> torch.Tensor:
        """Return votes by class of a classifier on noisy copies."""
        found: torch.Tensor | None = None
        for chunk, start in enumerate(range(0, count, _ROWS)):
            noisy = torch.empty((min(_ROWS, count - start), *image.shape))
            self.noise.perturb(image, noisy, generator_for(self.seed, 0, phase, chunk))
            with torch.no_grad():
                logits = model(padded(noisy))[: len(noisy)]
            votes = torch.bincount(logits.argmax(dim=1), minlength=logits.shape[1])
            found = votes if found is None else found + votes
        assert found is not None
        return found
