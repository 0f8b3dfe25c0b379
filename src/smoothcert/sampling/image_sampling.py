"""One image's way through the phases of a procedure, whatever order its chunks come back in."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch

from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.counts import Counts
from smoothcert.sampling.phases import CHUNK_VOTES, Phase
from smoothcert.sampling.saved_votes import read_votes, save_votes
from smoothcert.sampling.vote_log import BallotBox

LOOKAHEAD = 16
"""Chunks of later looks are issued up to 1/16 of the votes that a phase has counted.

So a decision after n votes of its phase finds less than n/16 votes and one chunk beyond it, whatever the workers and
batches; those of them that no worker has begun are dropped undrawn, only the rest is wasted.
"""


class Decider(Protocol):
    """What a procedure does with the counts of one image and one classifier."""

    def absorb(self, look: int, counts: Counts) -> bool:
        """Take the counts of the current phase at global look number `look`; return True when decided."""
        ...


@dataclass(frozen=True)
class Spent:
    """What one classifier's decision cost: votes and forward passes up to it, seconds of one worker."""

    samples: int
    evaluations: int
    seconds: float


@dataclass(eq=False)
class Journey:
    """The votes of one image between its first chunk and its decision.

    Counts a chunk only when all chunks before it are there, so that what a decider sees at a look does not
    depend on workers or batches; votes drawn beyond the deciding look are dropped unseen.

    Args:
        index: the image's place in the keyed stream.
        image: the clean image.
        phases: streams and looks, the same for every decider.
        deciders: one per answer of the engine.
        num_classes: classes per answer.
    """

    index: int
    image: torch.Tensor
    phases: Sequence[Phase]
    deciders: Sequence[Decider]
    num_classes: int
    spent: list[Spent | None] = field(init=False)
    wasted: int = 0

    def __post_init__(self) -> None:
        self.spent = [None] * len(self.deciders)
        self.ballots: list[dict[str, bytes]] = [{} for _ in self.deciders]  # packed, by answer and phase
        self._boxes = [BallotBox() for _ in self.deciders]
        self._paid = array("q")  # forward passes by chunk and answer, for snapshots
        self.decided = False  # every decider has what it needs
        self._look = 0  # global number of the next look
        self._seconds = 0.0
        self._before = 0  # votes of finished phases
        self._passes_before = np.zeros(len(self.deciders), dtype=np.int64)
        self._start_phase(0)

    def _start_phase(self, number: int) -> None:
        self._phase_number, self._phase = number, self.phases[number]
        self._look_in_phase = self._issued = self._absorbed = self._drawn = 0
        self._waiting: dict[int, ChunkVotes] = {}
        self._votes = np.zeros((len(self.deciders), self.num_classes), dtype=np.int64)
        self._passes = np.zeros(len(self.deciders), dtype=np.int64)
        for box in self._boxes:
            box.start(self._phase.name)

    @property
    def votes_counted(self) -> int:
        """Votes counted so far, over all phases."""
        return self._before + self._drawn

    def next_chunk(self) -> Chunk | None:
        """Return the next chunk to draw, or None if what is under way has to come back first."""
        first_vote = self._issued * CHUNK_VOTES
        limit = self._phase.looks[self._look_in_phase] + self._drawn // LOOKAHEAD
        if self.decided or first_vote >= min(limit, self._phase.votes):
            return None
        number, self._issued = self._issued, self._issued + 1
        return Chunk(self.image, self.index, self._phase.name, number, self._phase.chunk_votes(number))

    def take(self, chunk: Chunk, votes: ChunkVotes) -> None:
        """Take the votes of a chunk that came back; look wherever the procedure wants to look."""
        self._seconds += votes.seconds
        if self.decided:
            self.wasted += chunk.votes
            return
        if votes.votes.shape != self._votes.shape:
            raise ValueError(f"votes of shape {votes.votes.shape} for counts of shape {self._votes.shape}")
        self._waiting[chunk.number] = votes
        while not self.decided and (ready := self._waiting.pop(self._absorbed, None)) is not None:
            self._votes += ready.votes
            self._passes += ready.evaluations
            self._paid.extend(ready.evaluations.tolist())
            for answer, box in enumerate(self._boxes):
                box.add(None if ready.classes is None else ready.classes[answer])
            self._drawn += self._phase.chunk_votes(self._absorbed)
            self._absorbed += 1
            if self._drawn == self._phase.looks[self._look_in_phase]:
                self._look_now()
        if self.decided:
            self.wasted += sum(self._phase.chunk_votes(number) for number in self._waiting)
            self._waiting.clear()

    def _look_now(self) -> None:
        for answer, decider in enumerate(self.deciders):
            if self.spent[answer] is None:
                passes = int(self._passes[answer])
                counts = Counts(self._votes[answer].copy(), self._drawn, passes)
                if decider.absorb(self._look, counts):
                    total = int(self._passes_before[answer]) + passes
                    self.spent[answer] = Spent(self.votes_counted, total, self._seconds)
                    self.ballots[answer] = self._boxes[answer].packed()
        self.decided = all(spent is not None for spent in self.spent)
        self._look += 1
        self._look_in_phase += 1
        if not self.decided and self._look_in_phase == len(self._phase.looks):
            self._before += self._drawn
            self._passes_before += self._passes
            self._start_phase(self._phase_number + 1)

    def snapshot(self) -> dict[str, Any] | None:
        """Return the counted votes as plain values, for `restore` after a crash; None if only counts were kept."""
        packed = [box.packed() for box in self._boxes]
        if not all(packed):
            return None
        ends = [None if spent is None else spent.seconds for spent in self.spent]
        return save_votes(packed, self._paid.tobytes(), [self._seconds, *ends])

    def restore(self, saved: Any) -> None:
        """Walk a new journey through the votes of a snapshot once more: every look and decision is made again.

        Nothing else is believed, so no state can bring counts that are not the sum of its votes. Raises ValueError
        for what no snapshot of this journey can be; the journey is of no use then.
        """
        votes = read_votes(saved, self.phases, len(self.deciders), self.num_classes)
        for part in votes.chunks(self.num_classes):
            chunk = self.next_chunk()
            if chunk is None:
                raise ValueError("there are votes beyond the look that decided")
            self.take(chunk, part)
        if self.decided:
            raise ValueError("all is decided, so nothing was under way")
        self._seconds, *ends = (0.0 if seconds is None else seconds for seconds in votes.seconds)
        self.spent = [
            None if spent is None else Spent(spent.samples, spent.evaluations, seconds)
            for spent, seconds in zip(self.spent, ends, strict=True)
        ]
