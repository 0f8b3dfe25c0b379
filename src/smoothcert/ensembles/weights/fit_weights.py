"""Choosing weights on a hold-out: ways by name, and what they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import asdict, dataclass

import torch
from torch import nn

from smoothcert.arguments import is_whole
from smoothcert.data import Dataset
from smoothcert.ensembles.weights.esbrs import EsbrsFit, fit_esbrs
from smoothcert.ensembles.weights.holdout import HoldoutUse
from smoothcert.ensembles.weights.margins import Perturbation
from smoothcert.ensembles.weights.member_outputs import check_images, member_outputs
from smoothcert.ensembles.weights.soft_fit import SoftFit, fit_soft
from smoothcert.ensembles.weights.sween import SweenFit, fit_sween
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.registry import Table
from smoothcert.seeding import check_seed, generator_for

OnProgress = Callable[[int, int], None]


class Holdout:
    """Members, and the labelled images that choose between them.

    Not for the images to certify: a test split is refused.

    Args:
        members: classifiers in eval mode with the same classes.
        noise: the law of the noise.
        dataset: labelled images.
        images: use the first so many.
        draws: noisy copies of each.
        seed: of the noise; None draws one.
        on_progress: told how much of all is done.
        of_heads: the members are the heads of one network.
    """

    def __init__(
        self,
        members: Sequence[nn.Module],
        noise: NoiseLaw,
        dataset: Dataset,
        *,
        images: int,
        draws: int,
        seed: int | None,
        on_progress: OnProgress | None = None,
        of_heads: bool = False,
    ) -> None:
        if dataset.split == "test":
            raise InvalidArgumentError(
                "dataset is a test split; weights and order must be chosen on other images: take the hold-out"
            )
        if not is_whole(draws, 1):
            raise InvalidArgumentError(f"draws must be a positive integer, got {draws!r}")
        self.members, self.noise, self.dataset, self.draws = tuple(members), noise, dataset, draws
        self.of_heads = of_heads
        self.images, self.seed, self.on_progress = (
            check_images(dataset, images),
            check_seed(seed),
            on_progress,
        )
        self._kept: tuple[torch.Tensor, torch.Tensor] | None = None
        self._part_of: tuple[Holdout, list[int]] | None = None

    def only(self, places: Sequence[int]) -> Holdout:
        """Return the same hold-out for some of the members; what all have answered is not asked again.

        Args:
            places: of the members, 0 for the first.
        """
        part = copy(self)
        part.members, part._part_of = tuple(self.members[place] for place in places), (self, list(places))
        return part

    def outputs(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the members' logits on noisy images, and labels; computed once."""
        if self._part_of is not None:
            whole, places = self._part_of
            logits, labels = whole.outputs()
            return logits[:, places], labels
        if self._kept is None:
            self._kept = member_outputs(
                self.members,
                self.dataset,
                self.noise,
                draws=self.draws,
                generator=generator_for(self.seed, 0, "holdout"),
                images=self.images,
                on_progress=self.on_progress,
            )
        return self._kept

    def use(self, purpose: str, found: dict[str, float]) -> HoldoutUse:
        """Return the record of a choice made on these images."""
        return HoldoutUse(
            purpose=purpose,
            dataset=self.dataset.name,
            split=self.dataset.split,
            digest=self.dataset.digest,
            images=self.images,
            draws=self.draws,
            seed=self.seed,
            found=found,
        )


Chosen = tuple[tuple[float, ...], dict[str, float]]
"""Weights, one per member, and figures about the choice."""


@dataclass(frozen=True)
class WeightFit:
    """A way to choose weights on a hold-out.

    Args:
        choose: from the hold-out to weights and figures.
        rule: the voting rule that the weights are for.
        weighs: what they are weights of, in words.
        images: hold-out images used by default.
    """

    choose: Callable[[Holdout], Chosen]
    rule: str = "softmax"
    weighs: str = "probabilities"
    images: int = 2_000


def _sween(holdout: Holdout) -> Chosen:
    return _split(fit_sween(*holdout.outputs()))


def _sween_sgd(holdout: Holdout) -> Chosen:
    return _split(fit_sween(*holdout.outputs(), solver="sgd", draws=holdout.draws))


def _soft(holdout: Holdout) -> Chosen:
    return _split(fit_soft(*holdout.outputs()))


def _esbrs(holdout: Holdout) -> Chosen:
    return _split(
        fit_esbrs(
            holdout.members,
            holdout.dataset,
            holdout.noise,
            seed=holdout.seed,
            images=holdout.images,
            how=Perturbation(copies=holdout.draws),
            on_progress=holdout.on_progress,
        )
    )


def _split(fit: SweenFit | SoftFit | EsbrsFit) -> Chosen:
    return fit.weights, {name: value for name, value in asdict(fit).items() if name != "weights"}


WEIGHT_FITS: Table[WeightFit] = Table("way to fit weights")
WEIGHT_FITS.register("sween")(WeightFit(_sween))
WEIGHT_FITS.register("sween-sgd")(WeightFit(_sween_sgd))
WEIGHT_FITS.register("soft")(WeightFit(_soft, rule="soft", weighs="logits"))
# It asks each member a hundred times about every image.
WEIGHT_FITS.register("esbrs")(WeightFit(_esbrs, images=200))
