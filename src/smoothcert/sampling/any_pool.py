"""What draws batches of chunks: threads and processes here, or workers on other machines."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.one_by_one import ImageFault


class Pool(Protocol):
    """Workers that draw batches as they are given, in any order; entered for one job and left after it.

    Not a scheduler, nor allowed to change a vote: a chunk's key says all that decides its votes.
    """

    outstanding: int
    """Batches handed in that did not come back yet."""

    @property
    def workers(self) -> int:
        """How many draw now, at least 1; may change from call to call."""
        ...

    @property
    def lost(self) -> int:
        """Workers that were lost and replaced; 0 where a lost one ends the job."""
        ...

    @property
    def job_scale(self) -> int:
        """How many times as long a batch may take as one for a thread here: more where handing over costs more."""
        ...

    @property
    def note(self) -> str:
        """A few words for whoever watches; empty if there is nothing to tell."""
        ...

    def submit(self, tags: Sequence[Any], chunks: Sequence[Chunk]) -> None:
        """Hand in one batch; `tags` come back beside the votes of their chunks."""
        ...

    def collect(self) -> list[tuple[Any, ChunkVotes | ImageFault]]:
        """Wait for one batch and return its (tag, votes) pairs, a fault for what an image is to blame for.

        Raises what a worker raised that is no image's fault.
        """
        ...

    def __enter__(self) -> Self:
        """Make the workers ready."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the workers go."""
        ...
