"""How large a network's ends may be: checked where they enter, before anything is built of that size."""

from __future__ import annotations

import math

from smoothcert.arguments import check_whole, is_whole
from smoothcert.data import MOST_CLASSES
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

MOST_VALUES = 2**24
"""Values of one image, channels counted singly: four hundred times those of a 224x224 photograph."""
_MOST_AXES = 8
MOST_HEADS = 1_000
MOST_DEPTH = 1_000
MOST_WIDTH = 2**14


def checked_classes(num_classes: int) -> int:
    """Return a number of classes; refuse what is no whole number from 2 to `MOST_CLASSES`."""
    check_whole("num_classes", num_classes, 2, what="at least 2")
    return check_whole("num_classes", num_classes, 2, MOST_CLASSES, what=f"at most {MOST_CLASSES:,}")


def checked_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of one image; refuse one without values, or with more than `MOST_VALUES`."""
    if not shape or not all(is_whole(side, 1) for side in shape):
        raise InvalidArgumentError(f"input_shape must hold positive numbers only, got {brief(shape)}")
    if len(shape) > _MOST_AXES or math.prod(shape) > MOST_VALUES:
        raise InvalidArgumentError(
            f"input_shape must have at most {_MOST_AXES} axes and {MOST_VALUES:,} values, got {brief(shape)}"
        )
    return shape
