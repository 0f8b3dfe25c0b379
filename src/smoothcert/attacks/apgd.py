"""Auto-PGD (Croce and Hein 2020, Algorithm 1) in l2: gradient ascent with momentum that halves its own step size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from smoothcert.attacks.dlr import LEAST_CLASSES, targeted_dlr
from smoothcert.attacks.length import shortened, unit
from smoothcert.attacks.mean_softmax import MeanSoftmax, rivals
from smoothcert.attacks.method import Part
from smoothcert.attacks.search import Search
from smoothcert.on_demand import torch

STEPS, TARGETS = 100, 9
"""Published: gradient steps of a run, and classes that the targeted form aims at, one run each."""

_FIRST_STEP = 2.0  # in eps
_MOMENTUM = 0.75  # share of the new direction, alpha in the paper
_RISES = 0.75  # share of steps that must have raised the loss, rho in the paper

Loss = Callable[["torch.Tensor"], "torch.Tensor"]


def checkpoints(steps: int) -> list[int]:
    """Return the steps after which the step size is reconsidered: shares .22, .41, .57, .. of all."""
    shares = [0.0, 0.22]
    while shares[-1] < 1:
        shares.append(shares[-1] + max(shares[-1] - shares[-2] - 0.03, 0.06))
    return [math.ceil(round(share * steps, 9)) for share in shares[1:-1]]


def apgd_ce(smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the images within `eps` of largest cross entropy, fooled ones before others; one random start.

    Args:
        smoothed: what is attacked.
        images: clean images in [0, 1], (rows, ...).
        labels: class indices, (rows,).
        eps: radius of the l2 ball, in pixel units.
    """

    def cross_entropy(answers: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(answers, labels, reduction="none")

    return _climb(smoothed, images, labels, cross_entropy, eps=eps, phase="apgd-ce")


def apgd_t(smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return images within `eps`, by one run of the targeted DLR loss for each of the nine likeliest other classes.

    Rows that one target fooled are left alone by the next; rows never fooled come back as the last target left them.

    Args:
        smoothed: what is attacked, with at least four classes.
        images: clean images in [0, 1], (rows, ...).
        labels: class indices, (rows,).
        eps: radius of the l2 ball, in pixel units.
    """
    moved, targets = images.clone(), rivals(smoothed.answers(images), labels, TARGETS)
    left = torch.arange(len(images))
    for number in range(targets.shape[1]):
        some, y, t = smoothed.only(left), labels[left], targets[left, number]

        def dlr(answers: torch.Tensor, y: torch.Tensor = y, t: torch.Tensor = t) -> torch.Tensor:
            return targeted_dlr(answers, y, t)

        moved[left] = _climb(some, images[left], y, dlr, eps=eps, phase=f"apgd-t-{number}")
        left = left[~some.is_fooled(moved[left], y)]
        if not len(left):
            break
    return moved


@dataclass
class _Best:
    """The highest points so far: of all, where the climb restarts, and of those that fool, which are handed back."""

    images: torch.Tensor
    gradient: torch.Tensor
    loss: torch.Tensor
    handed: torch.Tensor
    fools: torch.Tensor
    handed_loss: torch.Tensor

    def see(
        self, images: torch.Tensor, gradient: torch.Tensor, loss: torch.Tensor, fools: torch.Tensor
    ) -> None:
        higher = loss > self.loss
        better = (fools & ~self.fools) | ((fools == self.fools) & (loss > self.handed_loss))
        self.images, self.gradient = (
            _where(higher, images, self.images),
            _where(higher, gradient, self.gradient),
        )
        self.loss = torch.where(higher, loss, self.loss)
        self.handed = _where(better, images, self.handed)
        self.fools, self.handed_loss = (
            self.fools | fools,
            torch.where(better, loss, self.handed_loss),
        )


def _climb(
    smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, loss: Loss, *, eps: float, phase: str
) -> torch.Tensor:
    """Run Algorithm 1 once from a random point on the sphere."""

    def inside(points: torch.Tensor) -> torch.Tensor:
        # Clamping comes second: it moves values towards the image, so it cannot leave the ball again.
        return (images + shortened(points - images, eps)).clamp(0, 1)

    drawn = torch.stack([torch.randn(images.shape[1:], generator=g) for g in smoothed.generators(phase)])
    now = before = inside(images + eps * unit(drawn.to(images)))
    gradient, height, answers = smoothed.slope(now, loss)
    fools = answers.argmax(dim=1) != labels
    best = _Best(now, gradient, height, now, fools, height)
    size = torch.full_like(height, _FIRST_STEP * eps)
    rises, halved, best_then = torch.zeros_like(height), torch.ones_like(fools), best.loss
    ends = checkpoints(STEPS)
    for step in range(STEPS):
        share = _MOMENTUM if step else 1.0
        ahead = inside(now + _as_rows(size, now) * unit(gradient))
        now, before = inside(now + share * (ahead - now) + (1 - share) * (now - before)), now
        gradient, new_height, answers = smoothed.slope(now, loss)
        rises, height = rises + (new_height > height), new_height
        best.see(now, gradient, height, answers.argmax(dim=1) != labels)
        if step + 1 in ends:
            place = ends.index(step + 1)
            length = ends[place] - (ends[place - 1] if place else 0)
            halved = (rises < _RISES * length) | (~halved & (best.loss <= best_then))
            size = torch.where(halved, size / 2, size)
            now, gradient = _where(halved, best.images, now), _where(halved, best.gradient, gradient)
            height = torch.where(halved, best.loss, height)
            rises, best_then = torch.zeros_like(rises), best.loss
    return best.handed


def _as_rows(values: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    return values.reshape(-1, *[1] * (images.dim() - 1))


def _where(rows: torch.Tensor, yes: torch.Tensor, no: torch.Tensor) -> torch.Tensor:
    return torch.where(_as_rows(rows, yes), yes, no)


def _targeted(classes: int) -> Part:
    targets = min(TARGETS, classes - 1)
    return Part("apgd-t", f"{STEPS} steps x {targets} targets", targets * 2 * (STEPS + 1))


APGD_CE = Search(apgd_ce, lambda classes: Part("apgd-ce", f"{STEPS} steps", 2 * (STEPS + 1)))
APGD_T = Search(
    apgd_t,
    _targeted,
    least_classes=LEAST_CLASSES,
    why_classes="the loss of apgd-t, targeted DLR, divides by the fourth largest logit",
)
