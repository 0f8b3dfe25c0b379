"""EsbRS with weights per image, over a data set: the published figure, which is no certificate of anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.arguments import check_path
from smoothcert.bounds import clopper_pearson_lower
from smoothcert.certificates import check_votes
from smoothcert.data import Dataset, check_indices
from smoothcert.ensembles import PerInputClaim, PerInputEsbrs, Perturbation
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import gather_members
from smoothcert.seeding import check_seed

NO_CERTIFICATE = (
    "NO CERTIFICATE: the weights were chosen at each clean image, so no one classifier gives these answers, and "
    "nothing is proven about any radius"
)
"""Said wherever a figure of a `PerInputStudy` is shown."""


@dataclass(frozen=True, eq=False)
class PerInputStudy:
    """What per-input weights claim about the images of a data set. Not certificates, and no accuracy that is proven.

    Args:
        about: members, data set, votes, seed and so on, as plain values.
        indices: of the images, (N,).
        labels: true classes, (N,).
        claims: one per image.
    """

    is_certificate: ClassVar[bool] = False

    about: Mapping[str, Any]
    indices: tuple[int, ...]
    labels: tuple[int, ...]
    claims: tuple[PerInputClaim, ...]

    @property
    def claimed_radii(self) -> NDArray[np.float64]:
        """Claimed radius of each image whose label was claimed; -1 for the others."""
        pairs = zip(self.claims, self.labels, strict=True)
        return np.array(
            [claim.claimed_radius if claim.predicted == label else -1.0 for claim, label in pairs]
        )

    @property
    def claimed_acr(self) -> float:
        """What the paper's tables call ACR: the mean claimed radius, 0 for images that are wrong or without a class."""
        return float(np.maximum(self.claimed_radii, 0.0).mean())

    def claimed_accuracy(self, radii: ArrayLike) -> NDArray[np.float64]:
        """Return the share of images claimed as their label at each radius or more; at 0, the paper's accuracy."""
        grid = np.atleast_1d(np.asarray(radii, dtype=np.float64))
        return np.asarray((self.claimed_radii[:, None] >= grid).mean(axis=0))


def study_per_input(
    member_folders: Sequence[str | Path],
    dataset: Dataset,
    *,
    indices: Sequence[int] | None = None,
    n: int = 100_000,
    alpha: float = 0.001,
    seed: int | None = None,
    how: Perturbation | None = None,
    by_label: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> PerInputStudy:
    """Claim every image with weights of its own: the row "optimal weight" of Table 3 of the EsbRS paper.

    Not `certify`: for certificates choose fixed weights on a hold-out, `make_ensemble(.., fit="esbrs")`.

    Args:
        member_folders: folders of two or more models, or of one multi-head network.
        dataset: images and labels.
        indices: which images; all by default.
        n: votes that bound the probability of each image's class.
        alpha: error probability of that bound, in (0, 1).
        seed: of noise and perturbations; None draws one, which is told.
        how: numbers of copies and size of the perturbations; the paper's by default.
        by_label: choose weights for the true label, as the paper does; else for the class that equal weights predict.
        on_progress: told how many of all images are done.
    """
    folders = [check_path("member_folders", folder) for folder in member_folders]
    members, chosen = gather_members(folders, dataset), check_indices(dataset, indices)
    if len(members.models) < 2:
        raise InvalidArgumentError(f"weights need at least two members, got {len(members.models)}; name more")
    check_votes("n", n)
    clopper_pearson_lower(0, 1, alpha)  # refuses an alpha that is none, before the first vote
    settings = PerInputEsbrs(
        members.models, members.noise.for_shape(dataset.input_shape), seed=check_seed(seed), how=how
    )
    labels = tuple(int(dataset.labels[index]) for index in chosen)
    claims = list[PerInputClaim]()
    for claim in settings.claims(
        dataset.image,
        chosen,
        labels=labels if by_label else None,
        n=n,
        bound=lambda successes, trials: float(clopper_pearson_lower(successes, trials, alpha)),
    ):
        claims.append(claim)
        if on_progress is not None:
            on_progress(len(claims), len(chosen))
    about = {
        "members": [str(folder) for folder in folders],
        "dataset": {"name": dataset.name, "split": dataset.split, "digest": dataset.digest},
        "noise": members.noise.describe(),
        "n": n,
        "alpha": alpha,
        "seed": str(settings.seed),
        "weights_chosen_for": "the true label" if by_label else "the class that equal weights predict",
    }
    return PerInputStudy(about, chosen, labels, tuple(claims))
