"""One image or many: what was asked about, and each image's place in the keyed streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import torch

from smoothcert.arguments import is_whole
from smoothcert.errors import InvalidArgumentError, InvalidImageError
from smoothcert.networks import is_of_numbers
from smoothcert.sampling import (
    COMPARED_CHUNKS,
    ImageSampling,
    VoteSource,
    check_batch_size,
    check_workers,
)
from smoothcert.visible import brief

Found = TypeVar("Found")
Source = TypeVar("Source", bound=VoteSource)


@dataclass(frozen=True)
class Asked:
    """Images to be asked about, checked, and their places in the keyed streams.

    Args:
        images: all of one shape.
        places: one each, all different.
        many: whether a list of answers is wanted, be it of one.
    """

    images: tuple[torch.Tensor, ...]
    places: tuple[int, ...]
    many: bool

    @classmethod
    def about(
        cls,
        given: Any,
        index: Any,
        input_shape: Sequence[int] | None,
        check_image: Callable[[Any], torch.Tensor],
    ) -> Asked:
        """Tell one image from many, check them, and give each its place.

        Args:
            given: one image, or many as `images_in` tells them.
            index: place of the first, or a list of places.
            input_shape: shape of one image, where it is known.
            check_image: checks one.
        """
        several = images_in(given, input_shape)
        if several is None:
            return cls((check_image(given),), (_place(index),), many=False)
        images = tuple(check_image(image) for image in several)
        if not images:
            raise InvalidImageError("there is no image in the list or batch; give at least one")
        for number, image in enumerate(images):
            if image.shape != images[0].shape:
                raise InvalidImageError(
                    f"images asked about together must have one shape, but image {number} has {tuple(image.shape)} and "
                    f"the first {tuple(images[0].shape)}; ask about each shape by itself"
                )
        return cls(images, _places(index, len(images)), many=True)

    def for_all(self, source: Source) -> Source:
        """Return a source of one image's votes as that of all; its engine stays that of one, so no vote changes."""
        return replace(source, planned_votes=source.planned_votes * len(self.images))

    def answers(
        self,
        source: VoteSource,
        begin: Callable[[int, torch.Tensor], ImageSampling[Any]],
        conclude: Callable[[ImageSampling[Any]], Found],
        *,
        workers: int | None,
        batch_size: int | None,
    ) -> list[Found]:
        """Draw the votes of all images, in batches that mix them, and return what each concludes in their order.

        Args:
            source: checked here before the first vote.
            begin: starts an image's sampling, from its place and the image.
            conclude: makes an answer of a decided sampling.
            workers: as for `SmoothedClassifier.certify`.
            batch_size: as for `SmoothedClassifier.certify`.
        """
        rows = check_batch_size(batch_size, self.images[0], source.engine)
        threads = check_workers(workers)
        source.check(dict(islice(self._pairs(), COMPARED_CHUNKS)), batch_size=rows)
        found: dict[int, Found] = {}

        def keep(sampling: ImageSampling[Any]) -> None:
            found[sampling.index] = conclude(sampling)

        samplings = (begin(place, image) for place, image in self._pairs())
        source.draw(samplings, source.workers_here(threads, rows), batch_size=rows, on_decided=keep)
        return [found[place] for place in self.places]

    def _pairs(self) -> Iterator[tuple[int, torch.Tensor]]:
        return zip(self.places, self.images, strict=True)


def images_in(given: Any, input_shape: Sequence[int] | None) -> Sequence[Any] | None:
    """Return the images of a list or batch; None where it is one image.

    A list or tuple of arrays is many images. Anything else, lists of numbers too, is one array: many images if the
    shape of one is known and it has one dimension more, else one image.

    Args:
        given: tensor, array, list of numbers, or list of these.
        input_shape: shape of one image, where it is known.
    """
    if isinstance(given, list | tuple) and not is_of_numbers(given):
        return given
    if input_shape is None:
        return None
    try:
        array = given if isinstance(given, torch.Tensor) else np.asarray(given)
    except (TypeError, ValueError):
        return None  # no array at all: whoever checks the image says so
    return list(array) if array.ndim == len(input_shape) + 1 else None


def _place(index: Any) -> int:
    if not is_whole(index, 0, numpy=True):
        raise InvalidArgumentError(f"index must be an integer >= 0, got {brief(index)}")
    return int(index)


def _places(index: Any, images: int) -> tuple[int, ...]:
    if not isinstance(index, list | tuple | range | np.ndarray):
        first = _place(index)
        return tuple(range(first, first + images))
    places = tuple(map(_place, index))
    if len(places) != images or len(set(places)) != images:
        raise InvalidArgumentError(
            f"index must be the place of the first image, or {images} different places, one per image, got "
            f"{brief(index)}"
        )
    return places
