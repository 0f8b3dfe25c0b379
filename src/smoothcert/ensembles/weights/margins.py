"""Mean and covariance of members' margins, under noise and under small changes of their weights."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from smoothcert.arguments import is_whole
from smoothcert.ensembles.weights.member_outputs import refuse_train_mode
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.networks import answer_of, padded
from smoothcert.noise import NoiseLaw
from smoothcert.seeding import generator_for

_IMAGES = 16  # per batch


@dataclass(frozen=True)
class Perturbation:
    """How training's randomness is imitated: some weights of a member are shifted, anew for every copy of it.

    Args:
        copies: noisy copies of an image, n in the paper.
        members: perturbed copies of each member, m in the paper.
        share: of the weights that are shifted, t in the paper.
        scale: standard deviation of the shifts.
    """

    copies: int = 10
    members: int = 10
    share: float = 0.3
    scale: float = 0.01

    def __post_init__(self) -> None:
        for name in ("copies", "members"):
            value = getattr(self, name)
            if not is_whole(value, 1):
                raise InvalidArgumentError(f"{name} must be a positive integer, got {value!r}")
        if self.copies * self.members < 2:
            raise InvalidArgumentError("copies x members must be at least 2, or nothing varies; got 1 x 1")
        if not 0 <= self.share <= 1:
            raise InvalidArgumentError(f"share must lie in [0, 1], got {self.share!r}")
        if not 0 <= self.scale < float("inf"):
            raise InvalidArgumentError(f"scale must be finite and >= 0, got {self.scale!r}")


@dataclass(frozen=True)
class MarginMoments:
    """Moments of the margins p_y - p_c of every member, image by image; zero for c = y.

    Args:
        mean: (images, members, classes).
        covariance: (images, classes, members, members); divided by the number of samples.
        classes: y, (images,).
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    classes: NDArray[np.int64]


def margin_moments(
    members: Sequence[nn.Module],
    images: torch.Tensor,
    classes: torch.Tensor,
    noise: NoiseLaw,
    *,
    seed: int,
    how: Perturbation | None = None,
    places: Sequence[int] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> MarginMoments:
    """Estimate the moments of softmax margins; all members see the same noise, so that they can be paired.

    Args:
        members: classifiers in eval mode with the same classes.
        images: clean images, (N, ...).
        classes: the class y that margins are about, (N,).
        noise: the law of the noise.
        seed: of noise and perturbations.
        how: numbers of copies and size of the perturbations; the paper's by default.
        places: numbers of the images in the keyed stream of the noise; 0, 1, .. by default.
        on_progress: told how many of all rounds, one per perturbed member, are done.
    """
    how = Perturbation() if how is None else how
    if not members:
        raise InvalidArgumentError("members must hold at least one classifier, got none")
    refuse_train_mode(members)
    keys = range(len(images)) if places is None else places
    total: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
    for number in range(how.members):
        answers = []
        for place, member in enumerate(members):
            changed = perturbed(member, how, generator_for(seed, number, f"esbrs-weights-{place}"))
            answers.append(_margins(changed, images, classes, noise, how.copies, seed, keys))
            if on_progress is not None:
                on_progress(number * len(members) + place + 1, how.members * len(members))
        margins = torch.stack(answers, dim=2)  # (N, copies, k, classes)
        if total is None:  # deviations from a first mean: squares of the margins would hide small variances
            start = margins.mean(dim=1)
            total = start, torch.zeros_like(start), torch.zeros(1)
        away = margins - total[0].unsqueeze(1)
        total = total[0], total[1] + away.sum(dim=1), total[2] + torch.einsum("nikc,nilc->nckl", away, away)
    assert total is not None
    samples = how.members * how.copies
    shift = total[1] / samples
    covariance = total[2] / samples - torch.einsum("nkc,nlc->nckl", shift, shift)
    return MarginMoments((total[0] + shift).numpy(), covariance.numpy(), classes.numpy())


def perturbed(member: nn.Module, how: Perturbation, generator: torch.Generator) -> nn.Module:
    """Return a copy of a member in which a share of the weights is shifted by normal noise."""
    changed = copy.deepcopy(member)
    with torch.no_grad():
        for weight in changed.parameters():
            chosen = torch.empty(weight.shape).uniform_(generator=generator) < how.share
            shift = torch.empty(weight.shape).normal_(0.0, how.scale, generator=generator)
            weight.add_((shift * chosen).to(weight))
    return changed


def _margins(
    member: nn.Module,
    images: torch.Tensor,
    classes: torch.Tensor,
    noise: NoiseLaw,
    copies: int,
    seed: int,
    places: Sequence[int],
) -> torch.Tensor:
    """Return p_y - p_c on noisy copies that depend on seed and place of the image alone, (N, copies, classes)."""
    device = next((weight.device for weight in member.parameters()), torch.device("cpu"))
    parts = []
    for start in range(0, len(images), _IMAGES):
        part = images[start : start + _IMAGES]
        noisy = torch.empty((len(part), copies, *part.shape[1:]))
        for place, image in enumerate(part):
            noise.perturb(image, noisy[place], generator_for(seed, places[start + place], "esbrs-noise"))
        rows = noisy.flatten(0, 1)
        with torch.no_grad():
            logits = answer_of(member, padded(rows).to(device))[: len(rows)].cpu().double()
        parts.append(logits.softmax(dim=1).reshape(len(part), copies, -1))
    probabilities = torch.cat(parts)
    if not bool(probabilities.isfinite().all()):
        raise ModelOutputError("a member answers with NaN or infinite logits; fix it or leave it out")
    own = probabilities.gather(2, classes.reshape(-1, 1, 1).expand(-1, copies, 1))
    return own - probabilities
