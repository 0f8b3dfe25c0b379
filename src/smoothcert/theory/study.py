"""The whole study of one ensemble: variances, success and what they mean for radii, as one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smoothcert.arguments import check_whole
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import load_model
from smoothcert.noise import NoiseLaw, noise_from
from smoothcert.radii import radius_grid
from smoothcert.seeding import check_seed
from smoothcert.theory.equal_inference import ExpectedRun, equal_inference
from smoothcert.theory.member_logits import MemberEnsemble, MemberLogits, collect_member_logits
from smoothcert.theory.success import Success, success_probabilities
from smoothcert.theory.variance import CLEAN_PARTS, VarianceModel, fit_variance_model
from smoothcert.theory.windows import ObservedRatios, ensemble_sizes, observed_ratios

_N, _ALPHA = 100_000, 0.001  # the field's CERTIFY
_RADII = 6


@dataclass(frozen=True, eq=False)
class PartStudy:
    """Model, observed variance ratios and success under one reading of the clean part y_c."""

    model: VarianceModel
    ratios: ObservedRatios
    success: Success


@dataclass(frozen=True, eq=False)
class VarianceStudy:
    """What the variance model says about an ensemble, beside what was observed.

    Not a certificate, and no basis for one: success probabilities are modelled or estimated, never bounded.

    Args:
        about: where it comes from: path, dataset, split, indices, seed, .. as plain values.
        noise: law of the noise.
        shape: images, noises, members, classes.
        sizes: numbers of members k looked at.
        parts: one study for each name in `CLEAN_PARTS`.
        ensemble_success: share of noisy copies to which the ensemble, by its own rule, gave the leading class.
        ensemble_accuracy: share of noisy copies to which it gave the label.
        radii: radii of the expected certified accuracy, in pixel units.
        equal_inference: one member at n votes, one at k n, k members at n; at modelled success.
    """

    about: Mapping[str, Any]
    noise: NoiseLaw
    shape: tuple[int, int, int, int]
    sizes: tuple[int, ...]
    parts: Mapping[str, PartStudy]
    ensemble_success: float
    ensemble_accuracy: float
    radii: tuple[float, ...]
    equal_inference: tuple[ExpectedRun, ExpectedRun, ExpectedRun]

    @property
    def members(self) -> int:
        """Number of members K."""
        return self.shape[2]


def study_ensemble(
    folder: str | Path, dataset: Dataset, *, images: int = 50, noises: int = 100, seed: int | None = None
) -> VarianceStudy:
    """Study the ensemble in a folder under its own noise, on images spread evenly over a data set.

    Args:
        folder: an ensemble folder of at least two members.
        dataset: images that the members were not trained on, such as a hold-out split.
        images: number of images; all if there are fewer.
        noises: noisy copies per image, >= 2.
        seed: of the noise; drawn from the operating system by default.
    """
    check_whole("images", images, 1)
    model, card = load_model(folder)
    if not isinstance(model, MemberEnsemble):
        raise InvalidArgumentError(
            f"{folder} holds a single model, which has no members to compare; give the folder of an ensemble"
        )
    if tuple(card.input_shape) != dataset.input_shape or card.num_classes != dataset.num_classes:
        raise InvalidArgumentError(
            f"{folder} takes images of shape {tuple(card.input_shape)} in {card.num_classes} classes, dataset "
            f"{dataset.name!r} has {dataset.input_shape} in {dataset.num_classes}; choose what it was trained on"
        )
    indices = np.unique(np.linspace(0, len(dataset) - 1, min(images, len(dataset))).round().astype(int))
    used, noise = check_seed(seed), noise_from(dict(card.noise))
    logits = collect_member_logits(model, noise, dataset, indices=indices.tolist(), noises=noises, seed=used)
    about = {
        "path": str(folder),
        "digest": card.digest,
        "dataset": dataset.name,
        "split": dataset.split,
        "indices": indices.tolist(),
        "seed": used,
    }
    return study_variance(logits, noise, about)


def study_variance(
    logits: MemberLogits, noise: NoiseLaw, about: Mapping[str, Any] | None = None
) -> VarianceStudy:
    """Fit and compare everything on given logits.

    Args:
        logits: of all members under shared noise.
        noise: the law of that noise.
        about: where the logits come from, for records.
    """
    sizes = ensemble_sizes(logits.members)
    parts = {}
    for name in CLEAN_PARTS:
        model = fit_variance_model(logits, name)
        ratios = observed_ratios(logits, name, sizes)
        parts[name] = PartStudy(model, ratios, success_probabilities(logits, model, sizes))
    success = parts["mean"].success
    right = success.leading == logits.labels
    largest = float(noise.radius(_ALPHA ** (1 / _N)))  # all votes for one class
    step = next((s for s in (0.1, 0.25, 0.5, 1.0, 2.5, 5.0) if largest / s <= _RADII), largest / _RADII)
    radii = tuple(float(radius) for radius in radius_grid(largest, step) if radius < largest)
    return VarianceStudy(
        about=dict(about or {}),
        noise=noise,
        shape=tuple(logits.noisy.shape),
        sizes=sizes,
        parts=parts,
        ensemble_success=float((logits.answers == success.leading[:, None]).mean()),
        ensemble_accuracy=float((logits.answers == logits.labels[:, None]).mean()),
        radii=radii,
        equal_inference=equal_inference(
            np.where(right, success.gaussian[:, 0], 0.0),
            np.where(right, success.gaussian[:, -1], 0.0),
            k=logits.members,
            n=_N,
            radii=radii,
            alpha=_ALPHA,
            noise=noise,
        ),
    )
