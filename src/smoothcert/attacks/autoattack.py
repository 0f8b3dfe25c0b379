"""AutoAttack (Croce and Hein 2020): APGD-CE, targeted APGD-DLR, targeted FAB and Square, with the published budgets."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn

from smoothcert.attacks import apgd, fab
from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.dlr import LEAST_CLASSES
from smoothcert.attacks.length import shortened
from smoothcert.attacks.mean_softmax import MeanSoftmax
from smoothcert.attacks.method import Method, Part
from smoothcert.attacks.square import QUERIES, square


class Search(Protocol):
    """A search of AutoAttack; whether it found anything is asked of the smoothed classifier."""

    def __call__(
        self, smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, *, eps: float
    ) -> torch.Tensor:
        """Return images in [0, 1] within l2 distance `eps`, (rows, ...)."""
        ...


SEARCHES: dict[str, Search] = {
    "apgd-ce": apgd.apgd_ce,
    "apgd-t": apgd.apgd_t,
    "fab-t": fab.fab_t,
    "square": square,
}
"""In the published order."""


class Chain:
    """Some of AutoAttack's searches, one after the other, each on the rows that none before it fooled.

    Not dependent on chance but for the offsets, from which starting points and windows are drawn.

    Args:
        names: keys of `SEARCHES`.
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        offsets: torch.Tensor,
        *,
        eps: float,
    ) -> torch.Tensor:
        """Return images within l2 distance `eps`; where none fools, what the first search left.

        Rows that are wrong from the start are searched by the first too: the mean softmax may be wrong where PREDICT
        is not.

        Args:
            model: batch -> logits.
            images: clean images in [0, 1], (rows, ...).
            labels: class indices, (rows,).
            offsets: noise of the m copies, (m, rows, ...).
            eps: radius of the l2 ball, in pixel units.
        """
        images = images.detach()
        with attacked(model):
            smoothed = MeanSoftmax(model, offsets)
            found = SEARCHES[self.names[0]](smoothed, images, labels, eps=eps)
            for name in self.names[1:]:
                left = (~smoothed.is_fooled(found, labels)).nonzero().flatten()
                if not len(left):
                    break
                some = smoothed.only(left)
                tried = SEARCHES[name](some, images[left], labels[left], eps=eps)
                fooled = some.is_fooled(tried, labels[left])
                found[left[fooled]] = tried[fooled]
        return (images + shortened(found - images, eps)).clamp(0, 1)


def _parts(names: tuple[str, ...], classes: int) -> tuple[Part, ...]:
    """Return budgets and costs: a gradient is two passes, and FAB asks once more whether it has crossed."""
    aims, crossings = min(apgd.TARGETS, classes - 1), min(fab.TARGETS, classes - 1)
    every = {
        "apgd-ce": Part("apgd-ce", f"{apgd.STEPS} steps", 2 * (apgd.STEPS + 1)),
        "apgd-t": Part("apgd-t", f"{apgd.STEPS} steps x {aims} targets", aims * 2 * (apgd.STEPS + 1)),
        "fab-t": Part("fab-t", f"{fab.STEPS} steps x {crossings} targets", crossings * 3 * fab.STEPS),
        "square": Part("square", f"{QUERIES:,} queries", QUERIES + 1),
    }
    return tuple(every[name] for name in names)


def method(*names: str) -> Method:
    """Return some of AutoAttack's searches as a way to attack; all of them are AutoAttack, fewer must not be called so.

    Args:
        names: keys of `SEARCHES`.
    """
    dlr = "apgd-t" in names
    return Method(
        Chain(*names),
        lambda steps, classes: _parts(names, classes),
        least_classes=LEAST_CLASSES if dlr else 2,
        why_classes="the loss of apgd-t, targeted DLR, divides by the fourth largest logit" if dlr else "",
        images_only="square" in names,
    )
