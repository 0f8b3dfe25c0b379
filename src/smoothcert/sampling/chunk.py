"""The atom of work: what to draw, and what was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

_KEPT = 256  # images a worker keeps on its device: more than are open at a time


@dataclass(frozen=True)
class Chunk:
    """One chunk of votes to draw: which image, from which stream, how many.

    `seed` is that of its streams, where batches mix chunks of several seeds; None for the one of whoever draws.
    """

    image: torch.Tensor
    index: int
    phase: str
    number: int
    votes: int
    seed: int | None = None


@dataclass(frozen=True)
class ChunkVotes:
    """What one chunk brought: votes by (answer, class), forward passes by answer, seconds of one worker.

    `classes` are the same votes one by one, (answer, vote), as `vote_type`; None where only counts were kept.
    """

    votes: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    seconds: float
    classes: NDArray[Any] | None = None


class ImagesOnDevice:
    """The images of the chunks at hand, moved to a device once each; on the CPU they are already there.

    Not for several threads.

    Args:
        device: where noise is added to them.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._moved: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def of_all(self, chunks: Sequence[Chunk]) -> list[torch.Tensor]:
        """Return the image of each chunk, on the device."""
        if self._device.type == "cpu":
            return [chunk.image for chunk in chunks]
        return [self._copy(chunk) for chunk in chunks]

    def _copy(self, chunk: Chunk) -> torch.Tensor:
        image, moved = self._moved.get(chunk.index, (None, None))
        if image is not chunk.image or moved is None:
            if len(self._moved) >= _KEPT:
                del self._moved[next(iter(self._moved))]
            # From pinned memory the copy does not wait for what the device is doing.
            source = chunk.image.pin_memory() if self._device.type == "cuda" else chunk.image
            moved = source.to(self._device, non_blocking=True)
            self._moved[chunk.index] = (chunk.image, moved)
        return moved
