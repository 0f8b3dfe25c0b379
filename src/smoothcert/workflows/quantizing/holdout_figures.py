"""How a quantised network does beside its float32 original, on the same noisy hold-out images."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from smoothcert.data import Dataset
from smoothcert.ensembles import Holdout, HoldoutUse
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.seeding import generator_for

_CALIBRATED = 256  # images: ranges do not change with more


@dataclass(frozen=True)
class Figures:
    """What was measured of one network.

    Args:
        difference: mean squared difference of its logits from those in float32.
        accuracy: share of noisy images that it answers rightly.
        agreement: share of them that it answers as in float32.
    """

    difference: float
    accuracy: float
    agreement: float


class HoldoutFigures:
    """Noisy hold-out images with labels, and the float32 network's answers to them.

    Args:
        original: the float32 network.
        noise: the law it was trained with.
        dataset: labelled images; not a test split.
        images: use the first so many.
        draws: noisy copies of each.
        seed: of the noise; None draws one.
    """

    def __init__(
        self,
        original: nn.Module,
        noise: NoiseLaw,
        dataset: Dataset,
        *,
        images: int,
        draws: int,
        seed: int | None,
    ) -> None:
        if dataset.split == "test":
            raise InvalidArgumentError(
                "dataset is a test split, but a network is quantised by other images than it will be judged by: give "
                "the hold-out"
            )
        self._holdout = Holdout((original,), noise, dataset, images=images, draws=draws, seed=seed)
        logits, self._labels = self._holdout.outputs()
        self._expected = logits[:, 0]

    def of(self, network: nn.Module) -> Figures:
        """Return how a network does; the original itself differs by nothing."""
        holdout = self._holdout
        again = Holdout(
            (network,),
            holdout.noise,
            holdout.dataset,
            images=holdout.images,
            draws=holdout.draws,
            seed=holdout.seed,
        )
        logits = self._expected if network is holdout.members[0] else again.outputs()[0][:, 0]
        answers = logits.argmax(dim=1)
        return Figures(
            float((logits - self._expected).double().square().mean()),
            float((answers == self._labels).double().mean()),
            float((answers == self._expected.argmax(dim=1)).double().mean()),
        )

    def noisy_images(self, purpose: str, count: int = _CALIBRATED) -> torch.Tensor:
        """Return noisy copies of the first images, with noise of their own for each purpose.

        Args:
            purpose: a name.
            count: most images.
        """
        holdout = self._holdout
        clean = holdout.dataset.batch(range(min(count, holdout.images)))
        noisy = torch.empty_like(clean)
        holdout.noise.for_shape(clean.shape[1:]).perturb(
            clean, noisy, generator_for(holdout.seed, 0, purpose)
        )
        return noisy

    @property
    def answers(self) -> int:
        """How many noisy images a network is measured on."""
        return len(self._labels)

    @property
    def use(self) -> HoldoutUse:
        """The record of the images."""
        return self._holdout.use("quantisation", {})
