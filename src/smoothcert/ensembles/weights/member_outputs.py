"""Outputs of members on noisy hold-out images, computed once and kept, for whatever is fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from smoothcert.arguments import is_whole
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.networks import answer_of, padded, part_in_train_mode
from smoothcert.noise import NoiseLaw

_ROWS = 128  # images per batch; part of what is drawn, so fixed


def member_outputs(
    members: Sequence[nn.Module],
    dataset: Dataset,
    noise: NoiseLaw,
    *,
    draws: int,
    generator: torch.Generator,
    images: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return every member's logits on the same noisy images, (draws x N, members, classes), and labels (draws x N,).

    Row i + N d is draw d of image i. Memory is that of the answer and one batch.

    Args:
        members: classifiers in eval mode with the same classes.
        dataset: labelled images; a hold-out, not the images to certify.
        noise: the law of the noise.
        draws: noisy copies of each image.
        generator: the source of the noise, on the CPU: the same noise wherever the members are.
        images: use the first so many; all by default.
        on_progress: told how many of all noisy images are done.
    """
    count = check_images(dataset, images)
    if not is_whole(draws, 1):
        raise InvalidArgumentError(f"draws must be a positive integer, got {draws!r}")
    if not members:
        raise InvalidArgumentError("members must hold at least one classifier, got none")
    refuse_train_mode(members)
    answers: torch.Tensor | None = None
    with torch.no_grad():
        for start in range(0, count, _ROWS):
            chosen = np.arange(start, min(start + _ROWS, count))
            clean = dataset.batch(chosen)
            noisy = torch.empty_like(clean)
            for draw in range(draws):
                noise.perturb(clean, noisy, generator)
                logits = torch.stack([_answers(member, noisy) for member in members], dim=1)
                if answers is None:
                    answers = torch.empty((draws * count, *logits.shape[1:]))
                answers[draw * count + start : draw * count + start + len(chosen)] = logits
                if on_progress is not None:
                    on_progress(draws * start + (draw + 1) * len(chosen), draws * count)
    assert answers is not None
    if not bool(answers.isfinite().all()):
        raise ModelOutputError("a member answers with NaN or infinite logits; fix it or leave it out")
    return answers, torch.from_numpy(dataset.labels[:count].copy()).repeat(draws)


def order_by_noisy_accuracy(logits: torch.Tensor, labels: torch.Tensor) -> tuple[int, ...]:
    """Return members from the most to the least accurate on noisy images; those that tie keep their order.

    Args:
        logits: (rows, members, classes), as `member_outputs` returns them.
        labels: (rows,).
    """
    right = (logits.argmax(dim=2) == labels.unsqueeze(1)).sum(dim=0).tolist()
    return tuple(sorted(range(len(right)), key=lambda member: -right[member]))


def check_member_logits(logits: torch.Tensor, labels: torch.Tensor) -> None:
    """Refuse what is not finite logits of members with a label per row, (rows, members, classes) and (rows,)."""
    if logits.ndim != 3 or logits.shape[0] == 0 or labels.shape != logits.shape[:1]:
        raise InvalidArgumentError(
            "logits must be (rows, members, classes) with one label per row, got "
            f"{tuple(logits.shape)} and {tuple(labels.shape)}"
        )
    if not bool(logits.isfinite().all()):
        raise InvalidArgumentError("logits must be finite, got NaN or infinity")


def check_images(dataset: Dataset, images: int | None) -> int:
    """Return how many images to use, refusing what is no number of them."""
    if images is None:
        return len(dataset)
    if not is_whole(images, 1):
        raise InvalidArgumentError(f"images must be a positive integer, got {images!r}")
    return min(images, len(dataset))


def refuse_train_mode(members: Sequence[nn.Module]) -> None:
    """Refuse members whose answers would depend on the batch."""
    for number, member in enumerate(members):
        if part_in_train_mode(member) is not None:
            raise InvalidArgumentError(f"member {number} is in train mode; call member.eval() first")


def _answers(member: nn.Module, batch: torch.Tensor) -> torch.Tensor:
    device = next((weight.device for weight in member.parameters()), torch.device("cpu"))
    # A copy, because members may write all their answers into one buffer.
    return answer_of(member, padded(batch).to(device))[: len(batch)].float().cpu().clone()
