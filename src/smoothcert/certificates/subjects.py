"""What is certified or attacked: a smoothed classifier and a data set, and nothing else that looks like one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from smoothcert.arguments import check_kind
from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.data import Dataset, is_torch_data
from smoothcert.errors import SmoothcertError


def check_subjects(classifier: Any, dataset: Any) -> Dataset:
    """Return the data set, read from torch's where it is one of those; refuse a network that is not smoothed.

    Refuses data that are no data set with the way to make one.

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
    if is_torch_data(dataset):
        dataset = Dataset.from_torch(dataset)
    check_kind(
        "dataset",
        dataset,
        Dataset,
        "a smoothcert Dataset: load_dataset(name), Dataset.from_arrays(images, labels) or Dataset.from_torch(data)",
    )
    checked: Dataset = dataset
    return checked


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
