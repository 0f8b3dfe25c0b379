"""Finds the image that a batch fails by: its chunks asked one by one, and no image blamed for a broken model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from smoothcert.errors import EngineDisagreementError, ModelRaisedError, UnsoundModelError, WorkerError
from smoothcert.networks import MIN_ROWS
from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.process_sampler import ProcessSampler, sendable
from smoothcert.sampling.sampler import Sampler
from smoothcert.visible import visible

_NO_IMAGES_FAULT = (
    EngineDisagreementError,
    UnsoundModelError,
    WorkerError,
)
_LONGEST = 500  # letters of a reason


@dataclass(frozen=True)
class ImageFault:
    """What came of a chunk instead of votes: the error that the model raised on it, or its answer that is no number.

    Args:
        error: as the model or the check of its answer raised it.
    """

    error: Exception

    @property
    def reason(self) -> str:
        """The error in one line that can be stored and shown."""
        error = self.error
        # The same in every pool: of an error that could not leave its process, what it was there.
        text = error.raised if isinstance(error, ModelRaisedError) else f"{type(error).__name__}: {error}"
        return visible(" ".join(text.split())[:_LONGEST])

    def to_send(self) -> ImageFault:
        """Return the same fault with an error that can leave this process."""
        return ImageFault(sendable(self.error))


def ran_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that there is no memory left, which is no fault of a model or an image."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    return "allocate memory" in str(error)  # what torch on the CPU, and engines, say in errors of other kinds


class OneByOne:
    """A worker's sampler that brings votes or the fault of each chunk, so that one image cannot end a run.

    A batch that fails is asked chunk by chunk: votes depend on no neighbour, so those of the other images stay what
    they are. An error is an image's only if the model still answers what it answered before; one that it raises there
    too is its own, or the machine's, and is raised.

    Args:
        sampler: draws, here or in a process of its own.
        example: an image that the model was asked about before the first vote.
    """

    def __init__(self, sampler: Sampler | ProcessSampler, example: torch.Tensor) -> None:
        self.sampler = sampler
        self._answered = Chunk(example, 0, "control", 0, MIN_ROWS)  # of a stream that no vote has

    def draw(self, chunks: Sequence[Chunk]) -> Sequence[ChunkVotes | ImageFault]:
        """Draw the votes of chunks; a fault in the place of each that the model cannot answer."""
        drawn = self._asked(chunks)
        if not isinstance(drawn, ImageFault):
            self._answered = chunks[0]
            return drawn
        if len(chunks) == 1:
            apart: list[ChunkVotes | ImageFault] = [drawn]
        else:
            apart = [self._alone(chunk) for chunk in chunks]
        fault = next((part for part in apart if isinstance(part, ImageFault)), None)
        if fault is not None and isinstance(self._asked([self._answered]), ImageFault):
            raise fault.error
        return apart

    def _alone(self, chunk: Chunk) -> ChunkVotes | ImageFault:
        drawn = self._asked([chunk])
        return drawn if isinstance(drawn, ImageFault) else drawn[0]

    def _asked(self, chunks: Sequence[Chunk]) -> list[ChunkVotes] | ImageFault:
        try:
            return self.sampler.draw(chunks)
        except Exception as error:
            theirs = isinstance(error, _NO_IMAGES_FAULT) and not isinstance(error, ModelRaisedError)
            if theirs or ran_out_of_memory(error):
                raise
            return ImageFault(error)
