"""The votes of one image through the phases of a procedure, whatever order its chunks come back in."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.counts import Counts
from smoothcert.sampling.decision import Conclusion, Decision
from smoothcert.sampling.one_by_one import ImageFault
from smoothcert.sampling.phases import CHUNK_VOTES, Phase
from smoothcert.sampling.saved_votes import read_votes, save_votes
from smoothcert.sampling.vote_log import VoteLog

LOOKAHEAD = 16
"""Chunks of later looks are issued up to 1/16 of the votes that a phase has counted.

So a decision after n votes of its phase finds less than n/16 votes and one chunk beyond it, whatever the workers and
batches; those of them that no worker has begun are dropped undrawn, only the rest is wasted.
"""


@dataclass(eq=False)
class ImageSampling(Generic[Conclusion]):
    """The votes of one image and one classifier between the first chunk and the decision.

    Counts a chunk only when all chunks before it are there, so that what a decision sees at a look does not
    depend on workers or batches; votes drawn beyond the deciding look are dropped unseen.

    Args:
        index: the image's place in the keyed stream.
        image: the clean image.
        phases: streams and looks.
        decision: is shown the counts at every look.
        num_classes: classes of the classifier.
        answer: which of the engine's answers is the classifier's.
        seed: of its streams; None for that of whoever draws.
    """

    index: int
    image: torch.Tensor
    phases: Sequence[Phase]
    decision: Decision[Conclusion]
    num_classes: int
    answer: int = 0
    seed: int | None = None

    def __post_init__(self) -> None:
        self.on_look: Callable[[], None] | None = None  # called after a look that did not decide
        self.decided = False
        self.fault: ImageFault | None = None  # of the chunk whose turn it is
        self.votes_counted = 0  # over all phases
        self.evaluations = 0  # forward passes that they cost
        self.seconds = 0.0  # of one worker, up to the decision
        self.wasted = 0  # votes drawn beyond the decision
        self.packed_votes: dict[str, bytes] = {}  # all of them, by phase, once decided
        self._all_votes = np.zeros(self.num_classes, dtype=np.int64)  # over all phases
        self._log = VoteLog()
        self._passes_by_chunk = array("q")  # for snapshots
        self._look = 0  # global number of the next look
        self._start_phase(0)

    def _start_phase(self, number: int) -> None:
        self._phase_number, self._phase = number, self.phases[number]
        self._look_in_phase = self._issued = self._absorbed = self._drawn = self._passes = 0
        self._waiting: dict[int, ChunkVotes] = {}
        self._faults: dict[int, ImageFault] = {}
        self._votes = np.zeros(self.num_classes, dtype=np.int64)
        self._log.start(self._phase.name)

    @property
    def leading(self) -> int:
        """Votes for the leading class over all phases; for estimates of the time left, no certificate rests on it."""
        return int(self._all_votes.max())

    def next_chunk(self) -> Chunk | None:
        """Return the next chunk to draw, or None if what is under way has to come back first."""
        first_vote = self._issued * CHUNK_VOTES
        limit = self._phase.looks[self._look_in_phase] + self._drawn // LOOKAHEAD
        if self.decided or self.fault is not None or first_vote >= min(limit, self._phase.votes):
            return None
        number, self._issued = self._issued, self._issued + 1
        votes = self._phase.chunk_votes(number)
        return Chunk(self.image, self.index, self._phase.name, number, votes, self.seed)

    def take(self, chunk: Chunk, votes: ChunkVotes) -> None:
        """Take the votes of a chunk that came back; look wherever the procedure wants to look."""
        if self.decided:
            self.wasted += chunk.votes
            return
        self.seconds += votes.seconds
        if votes.votes.shape[1:] != self._votes.shape:
            raise ValueError(f"votes of shape {votes.votes.shape} for counts of {self.num_classes} classes")
        self._waiting[chunk.number] = votes
        while not self.decided and (ready := self._waiting.pop(self._absorbed, None)) is not None:
            classes = None if ready.classes is None else ready.classes[self.answer]
            self._count(ready.votes[self.answer], int(ready.evaluations[self.answer]), classes)
        self._fail_if_due()
        if self.decided:
            self.wasted += sum(self._phase.chunk_votes(number) for number in self._waiting)
            self._waiting.clear()

    def take_fault(self, chunk: Chunk, fault: ImageFault) -> None:
        """Take the fault of a chunk. It ends the sampling when that chunk's turn has come, and else never."""
        if not self.decided:
            self._faults[chunk.number] = fault
            self._fail_if_due()

    def _fail_if_due(self) -> None:
        if not self.decided and self.fault is None:
            self.fault = self._faults.get(self._absorbed)

    def _count(self, votes: NDArray[np.int64], passes: int, classes: NDArray[Any] | None) -> None:
        """Count the next chunk, whose turn it is."""
        drawn = self._phase.chunk_votes(self._absorbed)
        self._votes += votes
        self._all_votes += votes
        self._passes += passes
        self.evaluations += passes
        self._passes_by_chunk.append(passes)
        self._log.add(classes)
        self._drawn += drawn
        self.votes_counted += drawn
        self._absorbed += 1
        if self._drawn == self._phase.looks[self._look_in_phase]:
            self._look_now()

    def _look_now(self) -> None:
        self.decided = self.decision.absorb(self._look, Counts(self._votes.copy(), self._drawn, self._passes))
        self._look += 1
        self._look_in_phase += 1
        if self.decided:
            self.packed_votes = self._log.packed()
            return
        if self.on_look is not None:
            self.on_look()
        if self._look_in_phase == len(self._phase.looks):
            self._start_phase(self._phase_number + 1)

    def votes_so_far(self) -> dict[str, bytes]:
        """Return all votes counted by now, by phase and packed; nothing if only counts were kept."""
        return self._log.packed()

    def snapshot(self) -> dict[str, Any] | None:
        """Return the counted votes as plain values, for `restore` after a crash; None if only counts were kept."""
        packed = self._log.packed()
        return save_votes(packed, self._passes_by_chunk.tobytes(), self.seconds) if packed else None

    def restore(self, saved: Any) -> None:
        """Let a new sampling count the votes of a snapshot; raise ValueError for what none of this sampling can be.

        The sampling is of no use then.
        """
        self.replay(saved)
        if self.decided:
            raise ValueError("all is decided, so nothing was under way")

    def replay(self, saved: Any) -> None:
        """Do what `restore` does, also for votes that decide.

        Every look and decision is made once more and nothing else is believed, so no state can bring counts that are
        not the sum of its votes.
        """
        votes = read_votes(saved, self.phases, self.num_classes)
        for counted, passes, classes in votes.chunks(self.num_classes):
            if self.next_chunk() is None:
                raise ValueError("there are votes beyond the look that decided")
            self._count(counted, passes, classes)
        self.seconds = votes.seconds
