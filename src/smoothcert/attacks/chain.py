"""Searches one after the other, as AutoAttack runs them (Croce and Hein 2020)."""

from __future__ import annotations

from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.length import shortened
from smoothcert.attacks.mean_softmax import MeanSoftmax
from smoothcert.attacks.method import Method
from smoothcert.attacks.search import Search
from smoothcert.on_demand import nn, torch


class Chain:
    """Some of AutoAttack's searches, one after the other, each on the rows that none before it fooled.

    Not dependent on chance but for the offsets, from which starting points and windows are drawn.

    Args:
        searches: in the order they are run.
    """

    def __init__(self, *searches: Search) -> None:
        self.searches = searches

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
            moved = self.searches[0].run(smoothed, images, labels, eps=eps)
            for search in self.searches[1:]:
                left = (~smoothed.is_fooled(moved, labels)).nonzero().flatten()
                if not len(left):
                    break
                some = smoothed.only(left)
                tried = search.run(some, images[left], labels[left], eps=eps)
                fooled = some.is_fooled(tried, labels[left])
                moved[left[fooled]] = tried[fooled]
        return (images + shortened(moved - images, eps)).clamp(0, 1)


def chained(*searches: Search) -> Method:
    """Return searches, one after the other, as a way to attack.

    Args:
        searches: in the order they are run.
    """
    neediest = max(searches, key=lambda search: search.least_classes)
    return Method(
        Chain(*searches),
        lambda steps, classes: tuple(search.part(classes) for search in searches),
        least_classes=neediest.least_classes,
        why_classes=neediest.why_classes,
        images_only=any(search.images_only for search in searches),
    )
