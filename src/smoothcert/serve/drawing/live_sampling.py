"""A sampling that tells of its looks while it is under way, and that can be left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smoothcert.sampling import Chunk, ChunkVotes, ImageFault, ImageSampling


class LiveSampling:
    """The votes of one request. Its calls back come in the thread that draws, one at a time.

    Args:
        sampling: the votes of the image.
        on_look: called after a look that did not decide.
        on_end: called once, when it is decided or was left.
        on_fault: called once instead, with what went wrong.
    """

    def __init__(
        self,
        sampling: ImageSampling[Any],
        *,
        on_end: Callable[[], None],
        on_fault: Callable[[BaseException], None],
        on_look: Callable[[], None] | None = None,
    ) -> None:
        self.sampling = sampling
        self.sampling.on_look = on_look
        self._on_end, self._on_fault = on_end, on_fault
        self._left = self._over = False

    @property
    def decided(self) -> bool:
        """Whether no further votes are needed, because all is decided or because nobody waits."""
        return self._over

    def leave(self) -> None:
        """Want no more votes; from any thread. It ends with the next chunk that comes back."""
        self._left = True

    def next_chunk(self) -> Chunk | None:
        """Return the next chunk to draw, or None if what is under way has to come back first."""
        return None if self._over else self.sampling.next_chunk()

    def take(self, chunk: Chunk, votes: ChunkVotes) -> None:
        """Take the votes of a chunk that came back."""
        if self._over:
            return
        self.sampling.take(chunk, votes)
        self._over = self.sampling.decided or self._left

    @property
    def fault(self) -> ImageFault | None:
        """Why the model cannot answer the image; None while it may."""
        return self.sampling.fault

    def take_fault(self, chunk: Chunk, fault: ImageFault) -> None:
        """Take the fault of a chunk that has no votes; other requests are not concerned."""
        if not self._over:
            self.sampling.take_fault(chunk, fault)
            self._over = self.sampling.fault is not None or self._left

    def end(self) -> None:
        """Tell that it is over."""
        self._over = True
        self._on_end()

    def fail(self, error: BaseException) -> None:
        """Tell what went wrong."""
        self._over = True
        self._on_fault(error)
