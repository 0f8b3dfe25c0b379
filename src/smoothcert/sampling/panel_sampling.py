"""The votes of one image for several classifiers that answer the same noisy copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.decision import Conclusion
from smoothcert.sampling.image_sampling import ImageSampling
from smoothcert.sampling.one_by_one import ImageFault


class PanelSampling(Generic[Conclusion]):
    """One sampling per classifier, each fed by the same chunks until its own decision.

    Those that are undecided have seen the same chunks and looks, so any of them says what to draw next.

    Args:
        samplings: of one image, with the same phases, one per answer of the engine.
    """

    def __init__(self, samplings: Sequence[ImageSampling[Conclusion]]) -> None:
        self.samplings = tuple(samplings)
        self.index = samplings[0].index

    @property
    def _undecided(self) -> list[ImageSampling[Conclusion]]:
        return [sampling for sampling in self.samplings if not sampling.decided]

    @property
    def decided(self) -> bool:
        """Whether every classifier is."""
        return not self._undecided

    @property
    def fault(self) -> ImageFault | None:
        """Why a classifier cannot be decided; then the image fails for all that are not."""
        faults = (sampling.fault for sampling in self._undecided)
        return next((fault for fault in faults if fault is not None), None)

    @property
    def votes_counted(self) -> int:
        """Votes of the classifier that has most of them."""
        return max(sampling.votes_counted for sampling in self.samplings)

    @property
    def leading(self) -> int:
        """Votes for the leading class of the first classifier that is undecided; of any where none is."""
        return (self._undecided or self.samplings)[0].leading

    def next_chunk(self) -> Chunk | None:
        """Return the next chunk to draw, or None if what is under way has to come back first."""
        chunks = [sampling.next_chunk() for sampling in self._undecided]
        return chunks[0] if chunks else None

    def take(self, chunk: Chunk, votes: ChunkVotes) -> None:
        """Hand the votes of a chunk to all that are undecided."""
        for sampling in self._undecided:
            sampling.take(chunk, votes)

    def take_fault(self, chunk: Chunk, fault: ImageFault) -> None:
        """Hand the fault of a chunk to all that are undecided."""
        for sampling in self._undecided:
            sampling.take_fault(chunk, fault)

    def snapshot(self) -> list[dict[str, Any]] | None:
        """Return the counted votes as plain values, by classifier; None if only counts were kept."""
        states = [sampling.snapshot() for sampling in self.samplings]
        kept = [state for state in states if state is not None]
        return kept if len(kept) == len(states) else None

    def restore(self, saved: Any) -> None:
        """Take new samplings through the votes of a snapshot; raise ValueError for what can be none of this panel."""
        if not isinstance(saved, list) or len(saved) != len(self.samplings):
            raise ValueError(f"there are no states of {len(self.samplings)} classifiers")
        for sampling, state in zip(self.samplings, saved, strict=True):
            sampling.replay(state)
        counted = {sampling.votes_counted for sampling in self._undecided}
        if not counted:
            raise ValueError("all is decided, so nothing was under way")
        if counted != {self.votes_counted}:
            raise ValueError("the classifiers that are undecided do not all have the votes drawn so far")
