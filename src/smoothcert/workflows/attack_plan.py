"""One attack's settings, and how they are carried out on images."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from smoothcert.attacks import METHODS, Part
from smoothcert.bounds import two_way_p_value
from smoothcert.certificates import SmoothedClassifier, identities
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.seeding import generator_for
from smoothcert.store import AttackedImage, Attempt
from smoothcert.workflows.surrogate import refuse_without_gradient, surrogate

_TOGETHER = 1024  # noisy copies in one gradient step
_JUST_INSIDE = 0.999  # of a certified radius: the hardest place where its certificate must hold
_ROUNDING = 1e-6  # relative
_TRIAL = -1  # number of a question whose answer is not used: its noise is nobody else's


class AttackPlan:
    """Attacks images within growing radii and asks PREDICT about every attempt.

    Not dependent on how many images go through together: every image has noise of its own.

    Args:
        classifier: what is attacked.
        dataset: images and labels.
        indices: images to attack.
        radii: l2 radii above 0, increasing, in pixel units.
        method: a name in `METHODS`.
        steps: gradient steps T; None for the method's own.
        m: noises of the attack.
        n: votes of PREDICT.
        alpha: error probability of PREDICT.
        seed: of all noise here.
        certified: class and radius of certified images, by index.
        how: further arguments of `SmoothedClassifier.predict`.
    """

    def __init__(
        self,
        classifier: SmoothedClassifier,
        dataset: Dataset,
        indices: Sequence[int],
        radii: tuple[float, ...],
        *,
        method: str,
        steps: int | None,
        m: int,
        n: int,
        alpha: float,
        seed: int,
        certified: Mapping[int, tuple[int, float]],
        how: dict[str, Any],
    ) -> None:
        self.classifier, self.dataset, self.indices, self.radii = classifier, dataset, indices, radii
        self.method, self.m, self.n = method, m, n
        self.alpha, self.seed, self.certified, self.how = alpha, seed, certified, how
        self.steps = METHODS[method].chosen_steps(method, steps)
        self.network = surrogate(classifier.model)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The attacks that the method runs, with their budgets."""
        return METHODS[self.method].parts(self.steps, self.classifier.num_classes)

    def cost(self) -> str:
        """Return in one sentence what will be run, and for how many forward passes at most."""
        each = sum(part.passes for part in self.parts)
        attempts = len(self.indices) * len(self.radii) + sum(
            index in self.certified for index in self.indices
        )
        return (
            f"{self.method} ({'; '.join(map(str, self.parts))}): at most {each:,} forward passes x {self.m} noises for "
            f"each attempt, {each * self.m * attempts:,} for {attempts:,} attempts on {len(self.indices):,} images; "
            "fewer where an image breaks early"
        )

    def settings(self) -> dict[str, Any]:
        """Return what identifies the attack."""
        dataset = self.dataset
        return {
            "model": identities(self.classifier.model)[0],
            "noise": self.classifier.noise.describe(),
            "dataset": {"name": dataset.name, "split": dataset.split, "digest": dataset.digest},
            "indices": list(self.indices),
            "method": self.method,
            "steps": self.steps,
            "parts": [str(part) for part in self.parts],
            "m": self.m,
            "radii": list(self.radii),
            "n": self.n,
            "alpha": self.alpha,
            "seed": str(self.seed),
            "engine": self.how["engine"],
            "on_nan": self.classifier.on_nan,
            "certificates": hashlib.sha256(repr(sorted(self.certified.items())).encode()).hexdigest()[:16],
        }

    def check(self) -> None:
        """Ask PREDICT once, so that what it refuses is refused before anything is written; refuse too few votes."""
        for index in self.indices[:1]:
            shape = tuple(self.dataset.image(index).shape)
            METHODS[self.method].check(self.method, self.classifier.num_classes, shape)
            image = self.classifier.check_image(self.dataset.image(index))
            self._predict(image, index, _TRIAL)
            refuse_without_gradient(self.network, image)
        if two_way_p_value(self.n, 0) > self.alpha:
            raise InvalidArgumentError(
                f"n={self.n} votes can never answer at alpha={self.alpha:g}, so nothing could break; draw more (1,000)"
            )

    def attacked(self, indices: Sequence[int]) -> Iterator[AttackedImage]:
        """Yield images as they are attacked, several at a time; what is found does not depend on how many."""
        rows = max(1, _TOGETHER // self.m)
        for first in range(0, len(indices), rows):
            yield from self._group(indices[first : first + rows])

    def _group(self, indices: Sequence[int]) -> Iterator[AttackedImage]:
        images = {index: self.classifier.check_image(self.dataset.image(index)) for index in indices}
        labels = {index: int(self.dataset.labels[index]) for index in indices}
        attempts = {index: [Attempt(0.0, self._predict(images[index], index, 0))] for index in indices}

        def is_open(index: int) -> bool:
            """Look whether a larger radius could show anything: after a break it could not."""
            away_from = self._away_from(index, labels[index])
            return all(attempt.predicted in (None, away_from) for attempt in attempts[index])

        for number, radius in enumerate(self.radii, start=1):
            open_ = {index: radius for index in indices if is_open(index)}
            self._attempt(open_, images, labels, attempts, number)
        inside = {
            index: _JUST_INSIDE * self.certified[index][1]
            for index in indices
            if index in self.certified
            and self.certified[index][1] > 0
            and not self._broken(index, attempts[index])
        }
        self._attempt(inside, images, labels, attempts, len(self.radii) + 1)
        for index in indices:
            yield AttackedImage(index, labels[index], tuple(attempts[index]), self.certified.get(index))

    def _broken(self, index: int, attempts: Sequence[Attempt]) -> bool:
        """Return whether a certificate is broken already, within its own radius: breaks beyond it say nothing."""
        predicted, radius = self.certified[index]
        return any(
            attempt.distance <= radius and attempt.predicted not in (None, predicted) for attempt in attempts
        )

    def _away_from(self, index: int, label: int) -> int:
        """Return the class to leave: the certified one, else the label."""
        return self.certified[index][0] if index in self.certified else label

    def _attempt(
        self,
        radii: dict[int, float],
        images: dict[int, torch.Tensor],
        labels: dict[int, int],
        attempts: dict[int, list[Attempt]],
        number: int,
    ) -> None:
        """Attack some images, each within its radius, and ask PREDICT about what comes out."""
        for eps in sorted(set(radii.values())):
            group = [index for index in radii if radii[index] == eps]
            clean = torch.stack([images[index] for index in group])
            classes = torch.tensor([self._away_from(index, labels[index]) for index in group])
            offsets = torch.stack([self._offsets(images[index], index, number) for index in group], dim=1)
            # A hair less, so that rounding in float32 does not carry the change out of the ball.
            reach = eps * (1 - _ROUNDING)
            steps = {} if self.steps is None else {"steps": self.steps}
            moved = METHODS[self.method].search(self.network, clean, classes, offsets, eps=reach, **steps)
            for row, index in enumerate(group):
                candidate = self._allowed(moved[row], clean[row], reach)
                distance = float(torch.linalg.vector_norm((candidate - clean[row]).double()))
                attempts[index].append(Attempt(distance, self._predict(candidate, index, number)))

    def _allowed(self, moved: torch.Tensor, clean: torch.Tensor, reach: float) -> torch.Tensor:
        """Return the changed image as the noise law takes it.

        A gradient that is no number leads nowhere: then the image is left as it is.
        """
        if not bool(moved.isfinite().all()):
            return clean
        return self.classifier.noise.admissible(moved, clean, reach)

    def _offsets(self, image: torch.Tensor, index: int, number: int) -> torch.Tensor:
        """Draw the attack's own noise for one image, (m, ...), from a stream that no vote comes from."""
        drawn = torch.empty((self.m, *image.shape))
        generator = generator_for(self.seed, index, f"attack-{number}")
        self.classifier.noise.for_shape(image.shape).perturb(torch.zeros_like(image), drawn, generator)
        return drawn

    def _predict(self, image: torch.Tensor, index: int, number: int) -> int | None:
        """Ask PREDICT, with noise that neither the attack nor any other question has seen."""
        key = hashlib.sha256(f"attack|{self.seed:x}|predict|{number}".encode()).digest()[:16]
        seed = int.from_bytes(key)
        predicted: int | None = self.classifier.predict(
            image, self.n, self.alpha, seed=seed, index=index, **self.how
        )
        return predicted
