"""Which images chose how an ensemble votes or a network was quantised: those may not be certified afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from smoothcert.data import Dataset, held_out
from smoothcert.errors import InvalidArgumentError
from smoothcert.fields import STRICT, Figures, Text
from smoothcert.seeding import SEED_BITS

_MOST = 2**63 - 1
_CHOSEN = {
    "order": "order",
    "quantisation": "quantisation",
}  # by purpose, where that is not a way to fit weights


class HoldoutUse(BaseModel):
    """A choice that was made by looking at labelled images, and the images it looked at.

    Not the choice itself: weights and order are in the card.

    Args:
        purpose: what was chosen: "order", "quantisation", or weights by a name in `WEIGHT_FITS`.
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
    trainings = [card.training for card in cards if hasattr(card, "training")]
    # Those on arrays of the user's own say by a digest what they held out: `refuse_other_holdout`.
    sizes = {held_out(training.get("holdout")) for training in trainings if not training.get("own")}
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


def refuse_other_holdout(cards: Iterable[Any], dataset: Dataset) -> None:
    """Refuse images to choose by, where a member trained on arrays of the user's own may have learnt some of them.

    Args:
        cards: of the members.
        dataset: the images to choose by.
    """
    owns = [card.training["own"] for card in cards if getattr(card, "training", {}).get("own")]
    if owns and any(own.get("holdout_digest") != dataset.digest for own in owns):
        raise InvalidArgumentError(
            f"a member was trained by smoothcert.fit, and what it held out is not {dataset.name} ({dataset.split}) as "
            "given here, so it may have learnt some of these images; give the Dataset that fit was given as holdout"
        )


def refuse_overlap(chosen: Any, dataset: Dataset, indices: Iterable[int]) -> None:
    """Refuse images that chose something about the model: accuracy on them would be too good.

    Each single certificate would still be true; what would be false is the accuracy that they add up to. Images are
    known by the digest of their split. Of other training images of the same data set (a hold-out of another size, say)
    nobody can tell which they were, so all of them are refused; a rearranged copy of another name is not recognised.

    Args:
        chosen: card of a model or ensemble, or what was loaded from its folder; without a recorded choice (`fitted`)
            nothing is refused.
        dataset: the split to certify.
        indices: which of its images.
    """
    uses: tuple[HoldoutUse, ...] = getattr(chosen, "fitted", ())
    smallest = min(indices, default=None)
    if not uses or smallest is None:
        return
    digest = dataset.digest
    for use in uses:
        what = _CHOSEN.get(use.purpose, "weights")
        if digest == use.digest:
            if smallest < use.images:
                raise InvalidArgumentError(
                    f"image {smallest} of {dataset.name} ({dataset.split}) was among the {use.images} images that "
                    f"chose this model's {what}, so accuracy on it would be too good; certify other images"
                )
        elif dataset.name == use.dataset and (dataset.split == "test") == (use.split == "test"):
            raise InvalidArgumentError(
                f"{dataset.name} ({dataset.split}) may hold some of the {use.images} images of {use.split} that chose "
                f"this model's {what}, so accuracy on it would be too good; certify test images"
            )
