"""Whether a model of the user's own seems to get images normalised twice, or not at all: a look, never a refusal."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence

import torch

from smoothcert.certificates import SmoothedClassifier
from smoothcert.data import Dataset
from smoothcert.engines import device_of, turn
from smoothcert.networks import as_logits, normalisation_of
from smoothcert.visible import visible

_IMAGES = 64  # that are looked at, one noisy copy each
_MUCH = 0.1  # share of images more that are right
_CHANCE = 0.01  # that so many more come out right where none is better, by a sign test
_SEED = 0
_log = logging.getLogger("smoothcert")
_Change = Callable[[torch.Tensor], torch.Tensor]


def warn_normalisation(classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]) -> None:
    """Log one line where `doubtful_normalisation` has one to say about a model that this package did not train."""
    line = doubtful_normalisation(classifier, dataset, indices) if is_unknown(classifier) else None
    if line is not None:
        _log.warning("%s", line)


def is_unknown(classifier: SmoothedClassifier) -> bool:
    """Return whether nobody wrote down on what a loaded model was trained, and so how its images were normalised."""
    trained = classifier.trained_for
    return classifier.source is not None or (trained is not None and not trained.datasets)


def doubtful_normalisation(
    classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]
) -> str | None:
    """Say in one line that a model answers far better with another normalisation; None if it does not.

    Not a test: some dozen noisy images with their labels are asked as they are, and with what would undo, or add, a
    normalisation. A model that cannot be asked is left alone.

    Args:
        classifier: what is to be certified.
        dataset: images and labels.
        indices: images to choose from.
    """
    try:
        right = _right(classifier, dataset, indices)
    except Exception:  # the user's own code; whoever asks it next will say what is wrong
        return None
    usual = right.pop(_AS_IT_IS)
    best = max(right, key=lambda name: int(right[name].sum()))
    if not _much_better(right[best], usual):
        return None
    shares = [float(one.double().mean()) for one in (usual, right[best])]
    return visible(
        f"of {len(usual)} noisy images of {dataset.name} the model answers {shares[0]:.0%} right, but {shares[1]:.0%} "
        f"{best}"
    )


def _much_better(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether answers to the same images are right far more often, and not by chance."""
    gains, losses = int((one & ~other).sum()), int((other & ~one).sum())
    differing = gains + losses
    chance = sum(math.comb(differing, count) for count in range(gains, differing + 1)) / 2**differing
    return gains - losses >= _MUCH * len(one) and chance <= _CHANCE


_AS_IT_IS = "as it is"
_WITHOUT = "without the normalisation in front: it seems to normalise by itself; leave mean and std out"
_TWICE = "with that normalisation twice: another one seems to be missing"
_MISSING = (
    "with images normalised by their mean and deviation: it seems to expect normalised images, so that mean and std "
    "of its training should be given"
)


def _right(
    classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]
) -> dict[str, torch.Tensor]:
    """Return which answers are right, by what was done to the images."""
    step = max(1, len(indices) // _IMAGES)
    chosen = list(indices)[::step][:_IMAGES]
    clean = dataset.batch(chosen)
    labels = torch.tensor([int(dataset.labels[index]) for index in chosen])
    noise, generator = classifier.noise.for_shape(clean.shape[1:]), torch.Generator().manual_seed(_SEED)
    noisy = torch.empty_like(clean)
    for place, image in enumerate(clean):
        noise.perturb(image, noisy[place : place + 1], generator)
    right = {}
    for name, change in _changes(classifier, clean).items():
        with torch.inference_mode(), turn():
            answers = as_logits(classifier.model(change(noisy).to(device_of(classifier.model))), len(noisy))
        right[name] = answers.argmax(dim=1).cpu() == labels
    return right


def _changes(classifier: SmoothedClassifier, clean: torch.Tensor) -> Mapping[str, _Change]:
    """Return what to do to images so that the network behind the first layer sees them normalised otherwise."""
    first = normalisation_of(classifier.model)
    if first is not None:
        mean, std = first.mean.cpu(), first.std.cpu()
        return {
            _AS_IT_IS: lambda images: images,
            _WITHOUT: lambda images: images * std + mean,
            _TWICE: lambda images: (images - mean) / std,
        }
    axes = [axis for axis in range(clean.dim()) if axis != 1]
    centre = clean.mean(dim=axes, keepdim=True)
    spread = clean.std(dim=axes, keepdim=True).clamp_min(1e-3)
    return {_AS_IT_IS: lambda images: images, _MISSING: lambda images: (images - centre) / spread}
