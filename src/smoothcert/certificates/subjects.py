"""What is certified or attacked: a smoothed classifier and a data set, and nothing else that looks like one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from smoothcert.arguments import check_kind
from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.data import Dataset
from smoothcert.errors import SmoothcertError


def check_subjects(classifier: Any, dataset: Any) -> None:
    """Refuse a network that is not smoothed, and data that are no `Dataset`, with the way to make one.

    Args:
        classifier: what was given as the classifier.
        dataset: what was given as the data set.
    """
    check_kind(
        "classifier",
        classifier,
        SmoothedClassifier,
        "a SmoothedClassifier: SmoothedClassifier(model, noise=Gaussian(0.25), num_classes=10) or "
        "load_classifier(folder)",
    )
    check_kind(
        "dataset",
        dataset,
        Dataset,
        "a smoothcert Dataset: load_dataset(name), or Dataset.from_arrays(images, labels) with the arrays of a loader",
    )


def check_images(classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]) -> torch.Tensor:
    """Check that the classifier takes every image, and return the first.

    Args:
        classifier: what is asked.
        dataset: what it is asked about.
        indices: which of the images, at least one.
    """
    first: torch.Tensor | None = None
    for index in indices:
        try:
            image = classifier.check_image(dataset.image(index))
        except SmoothcertError as error:
            raise type(error)(f"image {index} of {dataset.name}: {error}") from error
        first = image if first is None else first
    assert first is not None
    return first
