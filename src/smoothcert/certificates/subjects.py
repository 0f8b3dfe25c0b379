"""What is certified or attacked: a smoothed classifier and a data set, and nothing else that looks like one."""

from __future__ import annotations

from typing import Any

from smoothcert.arguments import check_kind
from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.data import Dataset


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
