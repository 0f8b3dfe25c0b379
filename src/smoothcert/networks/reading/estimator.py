"""A fitted estimator of scikit-learn, or of its like, as a classifier of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.errors import InvalidArgumentError, InvalidImageError, ModelOutputError
from smoothcert.visible import brief


class Estimator:
    """A fitted classifier or pipeline with `predict`, asked about images laid out as rows of features.

    Not fitted or changed here, and without a gradient. A vote is what `predict` says, because that is what runs later:
    the largest `predict_proba` is another class where a threshold was chosen or the probabilities were fitted by
    themselves. Those and the scores of a `decision_function` are never read.

    Args:
        estimator: fitted on images in [0, 1], one row of all pixel values each, and labels 0, 1, .. num_classes - 1.
        num_classes: how many classes it must know.
    """

    def __init__(self, estimator: Any, num_classes: int) -> None:
        self.estimator, self.num_classes = estimator, num_classes
        self.refuse_other_classes()

    def __repr__(self) -> str:
        return f"Estimator({type(self.estimator).__name__})"

    def __call__(self, batch: torch.Tensor) -> NDArray[np.float32]:
        """Return 1 for the predicted class and 0 for the others, (rows, classes)."""
        self.refuse_other_classes()  # it may have been fitted again
        rows = batch.flatten(1).numpy()
        wanted = getattr(self.estimator, "n_features_in_", rows.shape[1])
        if wanted != rows.shape[1]:
            raise InvalidImageError(
                f"{self._title} was fitted on {wanted} features, but an image of shape {tuple(batch.shape[1:])} has "
                f"{rows.shape[1]} values; give images of the size that it was fitted on"
            )
        return self._one_hot(np.asarray(self.estimator.predict(rows)), len(rows))

    def _one_hot(self, predicted: NDArray[Any], rows: int) -> NDArray[np.float32]:
        if predicted.shape not in ((rows,), (rows, 1)):  # some libraries return one column
            raise ModelOutputError(
                f"{self._title} predicts an array of shape {predicted.shape} for {rows} images, where one class for "
                "each is needed; give a classifier of one label, not of several"
            )
        answers: NDArray[np.bool_] = predicted.reshape(-1, 1) == np.arange(self.num_classes)
        if not bool(answers.any(axis=1).all()):  # also -1, which would be the last class by its place
            strange = predicted[~answers.any(axis=1)][0].item()
            raise ModelOutputError(f"{self._title} predicts {brief(strange)}, which is none of its classes_")
        return answers.astype(np.float32)

    def refuse_other_classes(self) -> None:
        """Refuse an estimator of several labels, or whose classes are not 0 .. num_classes - 1 in their order."""
        if getattr(self.estimator, "multilabel_", False):
            raise InvalidArgumentError(
                f"{self._title} gives an image several labels (multilabel_), where a vote is for one class; fit it on "
                "one label per image"
            )
        classes = getattr(self.estimator, "classes_", None)
        if classes is None:
            raise InvalidArgumentError(
                f"{self._title} has no classes_: it is not fitted, or no classifier; give a fitted classifier"
            )
        known = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
        right = all(isinstance(one, int | float) and one == place for place, one in enumerate(known))
        if not right or len(known) != self.num_classes:
            raise InvalidArgumentError(
                f"{self._title} has classes_ {brief(known)}, but num_classes={self.num_classes} means the labels 0 to "
                f"{self.num_classes - 1}, all of them; fit it on such labels, or set num_classes"
            )

    @property
    def _title(self) -> str:
        return f"the estimator {type(self.estimator).__name__}"


def as_model(model: Any, num_classes: int, *, also: str = "") -> Any:
    """Return a callable as it is, and a fitted estimator, which is none, as one; refuse anything else.

    Args:
        model: what a user calls a classifier.
        num_classes: how many classes it must know.
        also: what else may be given where it was asked for, for the message.
    """
    if callable(model):
        return model
    if hasattr(model, "predict"):
        return Estimator(model, num_classes)
    raise InvalidArgumentError(
        f"model must be {also}a callable from batch to logits, or a fitted estimator with predict, got {brief(model)}"
    )
