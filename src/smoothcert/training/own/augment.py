"""What a user may say about varying the images of a step, and how it is recorded."""

from __future__ import annotations

from typing import Any

from smoothcert.data import AUGMENTATIONS
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import code_fingerprint
from smoothcert.training.augmenting import Augmenting, NamedAugmenting, OwnAugmenting, Vary
from smoothcert.visible import brief

NONE = "none"
Augment = bool | str | Vary
"""False for none, a name in `AUGMENTATIONS`, or a function from (images, generator) to images."""


def augmenting_of(augment: Any) -> tuple[Augmenting, str]:
    """Return what varies the images, and the text that stands for it in a configuration.

    Args:
        augment: as a user gave it.
    """
    if augment is False:
        return NamedAugmenting(NONE), NONE
    if isinstance(augment, str):
        AUGMENTATIONS[augment]  # raises the error that lists the known names
        return NamedAugmenting(augment), augment
    if augment is True or not callable(augment):
        raise InvalidArgumentError(
            f"augment must be False, one of {', '.join(AUGMENTATIONS)}, or a function from (images, generator) to "
            f"images, got {brief(augment, 60)}; images of your own have no usual one"
        )
    name = getattr(augment, "__qualname__", type(augment).__qualname__)
    return OwnAugmenting(augment), f"{name[:500]}:{code_fingerprint(augment)}"
