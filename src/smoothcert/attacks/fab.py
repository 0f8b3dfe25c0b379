"""Fast adaptive boundary attack (Croce and Hein 2020), targeted, in l2: the smallest change that crosses a boundary."""

from __future__ import annotations

from smoothcert.attacks.length import lengths
from smoothcert.attacks.mean_softmax import MeanSoftmax, rivals
from smoothcert.attacks.method import Part
from smoothcert.attacks.plane_in_box import plane_in_box
from smoothcert.attacks.search import Search
from smoothcert.on_demand import torch

STEPS, TARGETS = 100, 9
"""Published: steps of a run, and classes aimed at, one run each."""

_OVERSHOOT = 1.05  # eta in the paper
_BACK = 0.9  # share of the change kept after a success, beta in the paper
_MOST_BIAS = 0.1  # largest share of the step from the clean image, alpha_max in the paper
_TINY = 1e-8


def fab_t(smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the smallest changes that fool, where they lie within `eps`; other rows come back clean.

    Not after the largest loss: what it finds lies close behind the boundary, where PREDICT may well abstain.

    Args:
        smoothed: what is attacked.
        images: clean images in [0, 1], (rows, ...).
        labels: class indices, (rows,).
        eps: radius of the l2 ball, in pixel units.
    """
    moved, targets = images.clone(), rivals(smoothed.answers(images), labels, TARGETS)
    left = torch.arange(len(images))
    for number in range(targets.shape[1]):
        smallest = _smallest(smoothed.only(left), images[left], labels[left], targets[left, number])
        near = lengths(smallest - images[left]).flatten() <= eps
        near &= (smallest != images[left]).flatten(1).any(dim=1)
        moved[left[near]] = smallest[near]
        left = left[~near]
        if not len(left):
            break
    return moved


def _smallest(
    smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Return the nearest fooling images met on the way to the targets' boundaries; clean ones where there were none."""

    def lead(answers: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(len(answers))
        return answers[rows, targets] - answers[rows, labels]

    now, best = images, images.clone()
    nearest = torch.full_like(lengths(images), torch.inf)
    for _ in range(STEPS):
        gradient, value, _ = smoothed.slope(now, lead)
        here = _onto(now, gradient, -value)
        # The same plane seen from the clean image, which keeps the search from drifting away.
        offset = ((images - now) * gradient).flatten(1).sum(dim=1)
        clean = _onto(images, gradient, -value - offset)
        far, near = lengths(here).clamp(min=_TINY), lengths(clean).clamp(min=_TINY)
        bias = (far / (far + near)).clamp(max=_MOST_BIAS)
        now = (1 - bias) * (now + _OVERSHOOT * here) + bias * (images + _OVERSHOOT * clean)
        now = now.clamp(0, 1)
        fooled = smoothed.is_fooled(now, labels).reshape(nearest.shape)
        better = fooled & (lengths(now - images) < nearest)
        best, nearest = torch.where(better, now, best), torch.where(better, lengths(now - images), nearest)
        now = torch.where(fooled, images + _BACK * (now - images), now)
    return best


def _onto(points: torch.Tensor, normals: torch.Tensor, missing: torch.Tensor) -> torch.Tensor:
    """Return the change onto a plane, in the shape of images."""
    return plane_in_box(points.flatten(1), normals.flatten(1), missing).reshape(points.shape).to(points)


def _part(classes: int) -> Part:
    """Return budget and cost: beside a gradient, every step asks once more whether it has crossed."""
    targets = min(TARGETS, classes - 1)
    return Part("fab-t", f"{STEPS} steps x {targets} targets", targets * 3 * STEPS)


FAB_T = Search(fab_t, _part)
