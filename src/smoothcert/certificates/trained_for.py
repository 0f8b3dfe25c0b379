"""What a classifier was trained for, and whether it is now asked about something else."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smoothcert.data import DATASETS, Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw, in_words
from smoothcert.visible import brief, visible

if TYPE_CHECKING:
    from smoothcert.certificates.smoothed_classifier import SmoothedClassifier

_log = logging.getLogger("smoothcert")


@dataclass(frozen=True)
class TrainedFor:
    """What the card of a model folder, or the cards of its members, say about the training.

    Args:
        datasets: names of the data sets, each once; none where they are not known.
        noise: law of the noise.
        class_names: one name per class.
    """

    datasets: tuple[str, ...]
    noise: NoiseLaw
    class_names: tuple[str, ...]

    def mismatch(self, dataset: Dataset, noise: NoiseLaw) -> str | None:
        """Say in one line which of data set, classes and noise are others than in training; None if none is."""
        other = []
        if self.datasets and dataset.name not in self.datasets:
            other.append(f"on data set {dataset.name} (trained on {', '.join(self.datasets)})")
        # Numbers say nothing: arrays without names of their own have them, and so have imported networks, where the
        # names of classes are in the files of a data set that they were not shown.
        if dataset.name in DATASETS:
            unnamed = DATASETS[dataset.name].class_names is None and self.class_names == _numbers(dataset)
        else:
            unnamed = dataset.class_names == _numbers(dataset)
        if self.datasets and not unnamed and dataset.class_names != self.class_names:
            other.append("with other classes")
        if noise != self.noise and not self.noise.is_same(noise):
            other.append(f"under {_called(noise)} noise (trained under {_called(self.noise)})")
        if not other:
            return None
        return visible(
            f"the model is asked {', '.join(other)}: its accuracy there is not what it was trained for"
        )


def check_match(classifier: SmoothedClassifier, dataset: Dataset, indices: Iterable[int]) -> None:
    """Refuse labels that the classifier has no class for, and its class names in another order; log other differences.

    Not a matter of soundness: the certificates stay true, it is their accuracy that would be misread.

    Args:
        classifier: what is asked.
        dataset: what it is asked about.
        indices: which of the images.
    """
    for index in indices:
        if not dataset.labels[index] < classifier.num_classes:
            raise InvalidArgumentError(
                f"image {index} of {dataset.name} has label {dataset.labels[index]}, but the model answers with "
                f"{classifier.num_classes} classes, 0 to {classifier.num_classes - 1}; choose the data set that the "
                "model is for, or number its classes as the model does"
            )
    trained = classifier.trained_for
    for names in (classifier.class_names, None if trained is None else trained.class_names):
        if names is not None:
            _refuse_another_order(tuple(names), dataset)
    line = None if trained is None else trained.mismatch(dataset, classifier.noise)
    if line is not None:
        _log.warning("%s", line)
    if trained is not None and dataset.split == "train" and dataset.name in trained.datasets:
        _log.warning(
            "the model has learnt from %s (train): accuracy there tells little of others", dataset.name
        )


def _refuse_another_order(names: tuple[str, ...], dataset: Dataset) -> None:
    """Refuse data whose labels mean the classes of the model in another order; numbers say nothing."""
    others = dataset.class_names
    same = len(names) == len(others) and set(names) == set(others)
    if names == others or not same or _numbers(dataset) in (names, others):
        return
    place = next(place for place, name in enumerate(names) if name != others[place])
    raise InvalidArgumentError(
        visible(
            f"class {place} is {brief(names[place])} for the model but {brief(others[place])} in {dataset.name}, which "
            "has the same class names in another order; number the labels as the model does, or fix class_names"
        )
    )


def _numbers(dataset: Dataset) -> tuple[str, ...]:
    return tuple(str(number) for number in range(dataset.num_classes))


def _called(noise: NoiseLaw) -> str:
    return f"{noise.law_name} {in_words(noise.parameters())}"
