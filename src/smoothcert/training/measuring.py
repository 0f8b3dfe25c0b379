"""What is measured after an epoch: accuracy under noise on the hold-out and, where asked for, certified radii."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from smoothcert.certificates import FixedSample, SmoothedClassifier
from smoothcert.data import Dataset
from smoothcert.execution import certify_in_memory
from smoothcert.seeding import generator_for
from smoothcert.training.accuracy import noisy_accuracy
from smoothcert.training.config import TrainConfig

_HOLDOUT_VOTES = 2_000  # noisy hold-out images to look at after an epoch; the same ones every time
# Which epoch is best is as uncertain as the hold-out is small, and more copies of few images do not change that: the
# accuracy's variance is (between images + within an image / copies) / images, and what copies can reduce is the smaller
# part. Ten leave a tenth of that part.
_MOST_COPIES = 10
_SELECT = 100  # votes that choose the class where hold-out images are certified
_ALPHA = 0.001


def measured(
    model: nn.Module,
    holdout_set: Dataset,
    *,
    epoch: int,
    config: TrainConfig,
    seed: int,
    note: Callable[[str], None],
) -> tuple[float, float | None]:
    """Return the fraction of noisy hold-out images classified right, and the average certified radius if it is due.

    Args:
        model: the network as it is after the epoch.
        holdout_set: images that it was not trained on.
        epoch: number of the epoch, from 1.
        config: says which noise, and when and how to certify.
        seed: of the noise, the same after every epoch.
        note: told what is being done.
    """
    accuracy = noisy_accuracy(
        model,
        holdout_set,
        config.noise_law(),
        draws=holdout_copies(len(holdout_set)),
        generator=generator_for(seed, 0, "holdout-noise"),
        on_copies=lambda done, copies: note(f"{done:,} of {copies:,} noisy hold-out images classified"),
    )
    if not config.certify_every or (epoch % config.certify_every and epoch != config.epochs):
        return accuracy, None
    note(f"certifying {min(config.certify_images, len(holdout_set)):,} hold-out images")
    return accuracy, _average_radius(model, holdout_set, config, seed)


def holdout_copies(images: int) -> int:
    """Return how many noisy copies of each hold-out image tell which epoch is best: 2,000 in all, from 1 to 10 each."""
    return min(max(1, _HOLDOUT_VOTES // images), _MOST_COPIES)


def _average_radius(model: nn.Module, holdout_set: Dataset, config: TrainConfig, seed: int) -> float:
    """Return the average certified radius of the first hold-out images."""
    model.eval()
    certification = SmoothedClassifier(model, config.noise_law(), holdout_set.num_classes).certification(
        FixedSample(n0=_SELECT, n=config.certify_votes),
        alpha=_ALPHA,
        seed=seed,
        engine="torch",
        example=holdout_set.image(0),
        images=min(config.certify_images, len(holdout_set)),
    )
    radii = [
        certificate.radius if certificate.predicted == holdout_set.labels[certificate.index] else 0.0
        for certificate in certify_in_memory(certification, holdout_set)
    ]
    return sum(radii) / len(radii)
