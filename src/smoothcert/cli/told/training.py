"""What is said about a training while it runs, before it and after it."""

from __future__ import annotations

from pathlib import Path

from smoothcert import training
from smoothcert.folders import ModelCard
from smoothcert.noise import in_words, noise_from
from smoothcert.report import say


def tell_before(out: Path, result: Path) -> None:
    """Say that a training is done already, or where it goes on."""
    if result.exists():
        say(f"{out} is trained already", error=True)
    elif (out / training.STATE_FILE).exists():
        say(f"{out}: continuing after epoch {len(training.read_header(out).metrics)}", error=True)


def tell_epoch(metrics: training.EpochMetrics) -> None:
    """Write a line per epoch."""
    radius = "" if metrics.holdout_acr is None else f", hold-out ACR {metrics.holdout_acr:.3f}"
    right = metrics.holdout_noisy_accuracy
    accuracy = "" if right is None else f", noisy hold-out accuracy {right:.1%}"
    say(
        f"epoch {metrics.epoch}: loss {metrics.loss:.4f}{accuracy}{radius}, "
        f"{metrics.images_per_second:,.0f} images/s",
        error=True,
    )


def tell_trained(card: ModelCard, out: Path) -> None:
    """Say what was trained, in a line."""
    heads = "" if card.heads is None else f" with {card.heads} heads"
    precision = card.training.get("precision", training.FLOAT32)
    below = "" if precision == training.FLOAT32 else f", in {precision}"
    noise = in_words(noise_from(card.noise).option_values())
    say(
        f"{out}: {card.architecture}{heads}, method {card.method}{below}, {card.noise['name']} noise ({noise}), "
        f"{card.metrics['train_images']:,.0f} images, {_right(card)}after epoch "
        f"{card.metrics['epoch']:.0f}, {card.metrics['seconds']:.0f} s"
    )


def _right(card: ModelCard) -> str:
    right = card.metrics.get("holdout_noisy_accuracy")
    return "" if right is None else f"{right:.1%} of noisy hold-out images right "
