"""From a model folder to a classifier that can be certified."""

from __future__ import annotations

from pathlib import Path

from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.ensembles import load_model
from smoothcert.noise import NoiseLaw, noise_from


def load_classifier(folder: str | Path, *, noise: NoiseLaw | None = None) -> SmoothedClassifier:
    """Return the smoothed classifier of a checkpoint or ensemble folder.

    Args:
        folder: holds model.json or ensemble.json.
        noise: another law than the one it was trained under.
    """
    model, card = load_model(folder)
    classifier = SmoothedClassifier(
        model,
        noise=noise_from(dict(card.noise)) if noise is None else noise,
        num_classes=card.num_classes,
        input_shape=tuple(card.input_shape),
        class_names=tuple(card.class_names),
        folder=Path(folder),
    )
    classifier.fitted = getattr(card, "fitted", ())
    return classifier
