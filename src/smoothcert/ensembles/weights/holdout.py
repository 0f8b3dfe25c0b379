"""Which images chose an ensemble's weights or order: those may not be certified afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from smoothcert.data import Dataset, held_out
from smoothcert.errors import InvalidArgumentError
from smoothcert.fields import STRICT, Figures, Text
from smoothcert.seeding import SEED_BITS

_MOST = 2**63 - 1


class HoldoutUse(BaseModel):
    """A choice that was made by looking at labelled images, and the images it looked at.

    Not the choice itself: weights and order are in the card.

    Args:
        purpose: what was chosen: "order", or weights by a name in `WEIGHT_FITS`.
        dataset: name of the data set.
        split: the split the images are of; never the test split where `smoothcert ensemble` chose it.
        digest: digest of that split.
        images: how many images, from the first on.
        draws: noisy copies of each.
        seed: of the noise.
        found: figures of the choice, such as the loss reached.
    """

    model_config = STRICT

    purpose: Text
    dataset: Text
    split: Text
    digest: Text
    images: int = Field(ge=1, le=_MOST)
    draws: int = Field(ge=1, le=_MOST)
    seed: int = Field(ge=0, lt=1 << SEED_BITS)
    found: Figures = {}


def common_holdout(cards: Iterable[Any]) -> int | None:
    """Return how many images the members' trainings held out, for `load_dataset`; None for the usual number.

    Refuses members that were trained on all images, or held out different ones: whatever is chosen by images that a
    member has learnt favours that member. Says nothing about ensembles among the members.

    Args:
        cards: of the members.
    """
    sizes = {held_out(card.training.get("holdout")) for card in cards if hasattr(card, "training")}
    if 0 in sizes:
        raise InvalidArgumentError(
            "a member was trained on all training images, so none is left to choose weights or order by; train members "
            "with a hold-out (--holdout 2000, as SWEEN did)"
        )
    if len(sizes) > 1:
        raise InvalidArgumentError(
            "the members held out different images, so there are none that no member has learnt; train them with the "
            "same hold-out"
        )
    return next(iter(sizes), None)


def refuse_overlap(chosen: Any, dataset: Dataset, indices: Iterable[int]) -> None:
    """Refuse images that chose something about the ensemble: accuracy on them would be too good.

    Each single certificate would still be true; what would be false is the accuracy that they add up to. Images are
    known by name and split of their data set, or by its digest; a rearranged copy is not recognised.

    Args:
        chosen: card of a model or ensemble, or what was loaded from its folder; without a recorded choice (`fitted`)
            nothing is refused.
        dataset: the split to certify.
        indices: which of its images.
    """
    uses: tuple[HoldoutUse, ...] = getattr(chosen, "fitted", ())
    if not uses:
        return
    smallest, digest = min(indices, default=None), None
    for use in uses:
        same = (dataset.name, dataset.split) == (use.dataset, use.split)
        if not same:
            digest = dataset.digest if digest is None else digest
            same = digest == use.digest
        if same and smallest is not None and smallest < use.images:
            raise InvalidArgumentError(
                f"image {smallest} of {dataset.name} ({dataset.split}) was among the {use.images} images that chose "
                f"this ensemble's {'order' if use.purpose == 'order' else 'weights'}, so accuracy on it would be too "
                "good; certify other images"
            )
