"""Jobs on their way to workers: keys of chunks, with small images beside them and large ones in the object store."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from smoothcert.execution.cluster.library import ray_library
from smoothcert.sampling import Chunk

_SMALL = 64 * 1024  # bytes of an image that travels with every order: Ray sends so little by value anyway
_KEPT = 256  # large images that the store holds: more than are open at a time


@dataclass(eq=False)
class Job:
    """One batch that was handed in, until it comes back.

    Args:
        tags: come back beside the votes.
        chunks: what to draw.
    """

    tags: Sequence[Any]
    chunks: Sequence[Chunk]
    fates: list[str] = field(default_factory=list)  # of the workers that were lost at it

    @property
    def votes(self) -> int:
        """How many are asked for."""
        return sum(chunk.votes for chunk in self.chunks)

    @property
    def images(self) -> str:
        """Which images it is about, in words."""
        places = sorted({chunk.index for chunk in self.chunks})
        return f"image {places[0]}" if len(places) == 1 else f"images {places[0]} to {places[-1]}"


class Orders:
    """Writes jobs as the arguments of `VoteWorker.draw`. Holds no more images than are under way."""

    def __init__(self) -> None:
        self._stored: dict[int, tuple[torch.Tensor, Any]] = {}

    def written(self, job: Job) -> tuple[bytes, list[Any]]:
        """Return a job's keys with its small images, and references to its large ones."""
        images = {id(chunk.image): (chunk.index, chunk.image) for chunk in job.chunks}
        small = [(key, image) for key, (_, image) in images.items() if image.nbytes <= _SMALL]
        large = [(key, index, image) for key, (index, image) in images.items() if image.nbytes > _SMALL]
        place = {key: number for number, (key, *_) in enumerate([*small, *large])}
        wanted = [(place[id(c.image)], c.index, c.phase, c.number, c.votes) for c in job.chunks]
        order = pickle.dumps(([image.numpy() for _, image in small], wanted))
        return order, [self._reference(index, image) for _, index, image in large]

    def _reference(self, index: int, image: torch.Tensor) -> Any:
        known, reference = self._stored.pop(index, (None, None))
        if known is not image:
            reference = ray_library().put(image.numpy())
        self._stored[index] = (image, reference)
        if len(self._stored) > _KEPT:
            del self._stored[next(iter(self._stored))]
        return reference
